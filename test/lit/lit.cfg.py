import os
import sys

import lit.formats

config.name = "Calque"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(os.environ["CALQUE_BUILD"], "test", "lit")
config.substitutions += [("%python", sys.executable), ("%{docs}", os.path.join(config.test_source_root, "..", "..", "docs"))]
config.environment["PATH"] = os.pathsep.join([os.path.join(os.environ["CALQUE_BUILD"], "bin"), os.environ["CALQUE_LLVM_BIN"], os.environ["PATH"]])
config.substitutions.append(("%{other_version}", os.path.join(os.environ["CALQUE_BUILD"], "test", "libcalque-compiler-of-another-version.so")))
for script in ("expand", "complete", "generated_errors"):
    config.substitutions.append(("%%{%s}" % script, "%s -B %s" % (sys.executable, os.path.join(config.test_source_root, "scripts", script + ".py"))))
for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
