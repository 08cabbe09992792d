# The native code of a saved function on another machine: the folder of the cache is copied beside the file, and the process that is given
# the copy compiles nothing. Code of another compiler, and code that others may have changed, is not used.
#
#   code-travels.py CALQUE_RUN COMPILER_LIBRARY FILE.calque DIRECTORY
import os
import pathlib
import shutil
import subprocess
import sys

run, compiler, program, directory = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])


def result(cache, **environment):
    given = {**os.environ, "CALQUE_CACHE": str(cache), "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(directory / "loaded"), **environment}
    made = subprocess.run([run, program, "--input", "2.5"], env=given, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    logs = list(directory.glob("loaded.*"))
    loads_llvm = any("libLLVM" in log.read_text() for log in logs)
    assert logs, "nothing says what was loaded"
    for log in logs:
        log.unlink()
    return made.stdout, loads_llvm


def expect(found, wanted, what):
    assert found == wanted, f"{what}: expected {wanted!r}, found {found!r}"


shutil.rmtree(directory, ignore_errors=True)
directory.mkdir(parents=True)
first, second = directory / "here", directory / "there"
printed, loads_llvm = result(first)
expect(loads_llvm, True, "the first run")
shutil.copytree(first, second)
shutil.rmtree(first)
second.chmod(0o700)
expect(result(second), (printed, False), "a run with the copy")
# A folder that can't be written to is read.
second.chmod(0o500)
expect(result(second), (printed, False), "a run with a copy that is not to be written to")
second.chmod(0o700)
# What others may write to is not trusted.
second.chmod(0o777)
expect(result(second), (printed, True), "a run with a copy that all may write to")
second.chmod(0o700)
expect(result(second), (printed, False), "a run with the copy again")
# Another build of the compiler has another id.
other = directory / "libcalque-compiler.so"
content = bytearray(pathlib.Path(compiler).read_bytes())
content[content.index(b"\x03\0\0\0GNU\0") + 8] ^= 1
other.write_bytes(content)
expect(result(second, CALQUE_COMPILER_LIBRARY=str(other)), (printed, True), "a run with another compiler")
