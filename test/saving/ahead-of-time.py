"""Compiles what save-programs has saved for a C program, which calls each function and its pullback three times and
compares the bits with those of the program that saved them: with threads and without.

    ahead-of-time.py CALQUE-COMPILE LIBRARY STANDALONE COMPILER PROGRAMS DIRECTORY [--aarch64 EMULATOR] [FLAG...]

Then misuse.c is built with functions of its own, and says what it did not expect. With --aarch64 the code is that for
ARM's CPUs, which the emulator runs: it adds in another order than this machine's, so that results may differ in their last
bits. Where there is no such compiler or emulator, the exit code is 77.

STANDALONE is the directory of standalone.h, COMPILER one of C++ that also takes C."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

# What is done each time; with CALQUE_AHEAD_ALL in the environment all programs are.
SHORT = {"array", "assertions", "cond", "custom_gradient", "grown", "lstm", "lstm_step", "native_while", "random", "scan_open", "small_types"}
SHORT |= {"transformer_step", "types", "vmap", "while_loop"}
TYPES = {"BOOL": ("uint8_t", 1), "I32": ("int32_t", 4), "I64": ("int64_t", 8), "F32": ("float", 4), "F64": ("double", 8)}
TYPES |= {"I8": ("int8_t", 1), "U8": ("uint8_t", 1), "I16": ("int16_t", 2), "U64": ("uint64_t", 8)}
TYPES |= {"C64": ("calque_complex64", 8), "C128": ("calque_complex128", 16)}
TYPES |= {"F16": ("uint16_t", 2), "BF16": ("uint16_t", 2)}


def tensors(path):
    """Name -> (type, shape, bytes), of a file of the format safetensors."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    base = 8 + length
    return {
        name: (each["dtype"], each["shape"], data[base + each["data_offsets"][0] : base + each["data_offsets"][1]])
        for name, each in header.items()
    }


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Program:
    """The C code that checks one program: its numbers go into files beside it."""

    def __init__(self, name, header, expected, directory):
        self.name, self.expected, self.directory = name, expected, directory
        self.signatures = re.findall(r"/\* (.*?) -> (.*?) \*/\nstatic inline int (\w+)\(", header)
        self.lines = []
        self.files = {}

    def array(self, key):
        """The C expression of the address of a tensor's elements, which are copied where they have no alignment."""
        kind, _, data = self.expected[key]
        if key not in self.files:
            self.files[key] = f"{self.name}.{key}.bin"
            (self.directory / self.files[key]).write_bytes(data)
        return f'({TYPES[kind][0]} *)load("{self.files[key]}", {len(data)})'

    def call(self, function, number, gradients):
        inputs, outputs, c_name = function
        dims_of = lambda text: [[size == "?" for size in each.split(",")] for each in re.findall(r"\[(.*?)\]", text)]
        in_dims, out_dims = dims_of(inputs), dims_of(outputs)
        numbers = range(sum(key.startswith("in.") for key in self.expected))
        results = [f"out.{number}.{i}" for i in range(sum(key.startswith(f"out.{number}.") for key in self.expected))]
        text, wanted, sizes = [], [], []
        arguments = ["model"]
        dims = iter(in_dims)
        for i in numbers:
            arguments.append(self.array(f"in.{i}"))
            shape = self.expected[f"in.{i}"][1]
            arguments += [str(size) for size, is_open in zip(shape, next(dims)) if is_open]
        if gradients:
            for key in results:  # the target is the sum of all floating-point results
                kind, shape, data = self.expected[key]
                if kind in ("F32", "F64"):
                    arguments.append(f"({TYPES[kind][0]} *)ones({len(data) // TYPES[kind][1]}, {int(kind == 'F64')})")
                    arguments += [str(size) for size, is_open in zip(shape, next(dims)) if is_open]
            results = [key for key in results if self.expected[key][0] in ("F32", "F64")] + [
                f"grad.{number}.{i}" for i in numbers if self.expected[f"in.{i}"][0] in ("F32", "F64")
            ]
        for i, (key, dims) in enumerate(zip(results, out_dims, strict=True)):
            kind, shape, data = self.expected[key]
            text.append(f"  {TYPES[kind][0]} *r{i} = ({TYPES[kind][0]} *)room({len(data)});")
            arguments.append(f"r{i}")
            if any(dims):
                arguments.append(str(len(data) // TYPES[kind][1]))
                sizes += [size for size, is_open in zip(shape, dims) if is_open]
            of_floats = {"F32": 4, "F64": 8}.get(kind, 0)
            wanted.append(f'  compare("{self.name}: {key}", r{i}, {self.array(key)}, {len(data)}, {of_floats});')
        if any(any(dims) for dims in out_dims):
            text.append(f"  int64_t sizes[{len(sizes)}];")
            arguments.append("sizes")
            wanted += [f'  same_size("{self.name}", sizes[{i}], {size});' for i, size in enumerate(sizes)]
        return ["  {", *text, f"  check(model, {c_name}({', '.join(arguments)}));", *wanted, "  }"]

    def code(self):
        lines = [f"static void run_{self.name}(void) {{"]
        for function in self.signatures:
            gradients = function[2].endswith("_pullback")
            lines += ["  {", f"  calque_model *model = open_model(&p_{self.name});"]
            for number in range(3):
                lines += self.call(function, number, gradients)
            lines += ["  calque_close(model);", "  }"]
        return "\n".join(lines + ["}"])


PRELUDE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int differences = 0;
static void check(calque_model *model, int failed) {
  if (failed) {
    printf("%s\\n", calque_error(model));
    exit(1);
  }
}
static calque_model *open_model(const calque_library *library) {
  calque_model *model = calque_open(library);
  if (!model) {
    puts("a model can't be opened");
    exit(1);
  }
  return model;
}
/* Kept to the end: each has the address of the one before, so that nothing is lost. */
static void *last_room = NULL;
static void *room(size_t bytes) {
  char *memory = (char *)malloc(16 + bytes + 64);
  *(void **)memory = last_room;
  last_room = memory;
  memset(memory + 16, 0x5a, bytes + 64);
  return memory + 16;
}
/* At an address that has no alignment beyond an element's. */
static void *load(const char *path, size_t bytes) {
  char *memory = (char *)room(bytes + 8) + 8;
  FILE *file = fopen(path, "rb");
  if (!file || fread(memory, 1, bytes, file) != bytes)
    exit(2);
  fclose(file);
  return memory;
}
static void *ones(size_t count, int isDouble) {
  double *x = (double *)room(count * sizeof *x);
  for (size_t i = 0; i < count; ++i)
    if (isDouble)
      x[i] = 1;
    else
      ((float *)x)[i] = 1;
  return x;
}
/* Of floats of so many bytes, or of something else; 0: all bits are the same. */
static const double tolerance = TOLERANCE;
static int is_near(const void *found, const void *expected, size_t bytes, size_t of_floats) {
  for (size_t i = 0; of_floats && i < bytes / of_floats; ++i) {
    double a, b;
    if (of_floats == sizeof(double)) {
      memcpy(&a, (const double *)found + i, sizeof a);
      memcpy(&b, (const char *)expected + i * sizeof b, sizeof b);
    } else {
      float x, y;
      memcpy(&x, (const float *)found + i, sizeof x);
      memcpy(&y, (const char *)expected + i * sizeof y, sizeof y);
      a = x;
      b = y;
    }
    if (!(a == b || (a != a && b != b) || (a - b <= tolerance * (1 + (b < 0 ? -b : b)) && b - a <= tolerance * (1 + (b < 0 ? -b : b)))))
      return 0;
  }
  return of_floats != 0;
}
static void compare(const char *what, const void *found, const void *expected, size_t bytes, size_t of_floats) {
  const unsigned char *end = (const unsigned char *)found + bytes;
  for (int i = 0; i < 64; ++i)
    if (end[i] != 0x5a) {
      printf("%s: written beyond its end\\n", what);
      ++differences;
      return;
    }
  if (memcmp(found, expected, bytes) && !(tolerance > 0 && is_near(found, expected, bytes, of_floats))) {
    printf("%s differs\\n", what);
    ++differences;
  }
}
static void same_size(const char *what, int64_t found, int64_t expected) {
  if (found != expected) {
    printf("%s: a size is %lld, not %lld\\n", what, (long long)found, (long long)expected);
    ++differences;
  }
}
"""


def main():
    compile_tool, library, standalone, compiler, programs, directory, *flags = sys.argv[1:]
    emulator, target, tolerance = [], [], "0"
    if flags[:1] == ["--aarch64"]:
        emulator, target, flags, tolerance = flags[1:2], ["--target", "aarch64"], [*flags[2:], "-static"], "1e-4"
        for each, package in ((compiler, "g++-aarch64-linux-gnu"), (emulator[0], "qemu-user")):
            if not shutil.which(each):
                print(f"skipped: Debian's package {package} is not there, or was not when the build was configured")
                sys.exit(77)
    compile_tool = [compile_tool, *target]
    programs, directory = pathlib.Path(programs), pathlib.Path(directory)
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "calque").mkdir(parents=True)
    shutil.copy(pathlib.Path(standalone) / "standalone.h", directory / "calque")
    source, calls, objects = [], [], []
    for path in sorted(programs.glob("*.calque")):
        name = path.stem
        if name not in SHORT and "CALQUE_AHEAD_ALL" not in os.environ:
            continue
        expected = tensors(path.with_suffix(".expected"))
        command = [*compile_tool, path, "-o", directory / f"{name}.o", "--header", directory / f"{name}.h"]
        command += ["--name", f"p_{name}"]  # "random" is a function of C
        if any(key.startswith("grad.") for key in expected):
            command += ["--pullback", "program"]
        run(command)
        header = (directory / f"{name}.h").read_text()
        source.append(f'#include "{name}.h"')
        calls.append(Program(name, header, expected, directory))
        objects.append(directory / f"{name}.o")
    code = "\n".join(source) + PRELUDE.replace("TOLERANCE", tolerance) + "\n".join(each.code() for each in calls)
    code += "\nint main(int argc, char **argv) {\n  if (argc > 1)\n    calque_set_threads(atoi(argv[1]));\n"
    code += "".join(f"  run_{each.name}();\n" for each in calls)
    code += f'  printf("{len(calls)} programs, %d differences\\n", differences);\n  return differences > 0;\n}}\n'
    (directory / "main.c").write_text(code)
    warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused-parameter"]
    for language in ("c", "c++"):
        run(
            [compiler, *flags, *warnings, "-I", directory, "-x", language, directory / "main.c", "-x", "none", *objects]
            + [library, "-lm", "-lpthread", "-o", directory / f"main-{language}"]
        )
    for threads in ([], ["1"]):
        print(run([*emulator, directory / "main-c", *threads], cwd=directory), end="")
    # What goes wrong, and how the program is told.
    misuse = pathlib.Path(__file__).with_name("misuse.c")
    ahead = [*compile_tool, programs / "misuse.own", "-o", directory / "misuse.o", "--header", directory / "misuse.h"]
    run([*ahead, "--pullback", "f", "--pullback", "product"])
    run(
        [compiler, *flags, *warnings, "-I", directory, "-x", "c", misuse, "-x", "none", directory / "misuse.o"]
        + [library, "-lm", "-lpthread", "-o", directory / "misuse"]
    )
    print(run([*emulator, directory / "misuse"]), end="")
    # Names that C or the header has: it compiles as C and as C++, after the headers whose macros are words. The object is
    # called as the arguments are.
    functions = [*compile_tool, programs / "names.own", "-o", directory / "x.o", "--header", directory / "x.h"]
    run([*functions, "--pullback", "f0"])
    header = (directory / "x.h").read_text()
    for note in ("/* of function 'x and x_1'; x_1 is argument 0 'x'; x_1_1 is argument 1 'x_1' */", "int_1 is argument 1 'int'"):
        if note not in header:
            sys.exit(f"the header does not say {note}")
    c_code = """#include <complex.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include "x.h"
int main(void) {
  float a[2] = {1, 2}, b[2] = {3, 4}, sum[2];
  calque_model *model = calque_open(&x);
  if (!model || x_f0(model, a, 2, b, 2, sum, 2, NULL) || x_x_and_x_1(model, sum, 2, b, 2, sum, 2, NULL))
    return 1;
  calque_close(model);
  return sum[1] != 10;
}
"""
    (directory / "names.c").write_text(c_code)
    (directory / "names.cpp").write_text(c_code.replace("#include <complex.h>\n", ""))
    for source in ("names.c", "names.cpp"):
        run(
            [compiler, *flags, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-I", directory]
            + ["-x", "c++" if source.endswith("cpp") else "c", directory / source, "-x", "none", directory / "x.o"]
            + [library, "-lm", "-lpthread", "-o", directory / "names"]
        )
        run([*emulator, directory / "names"])
    # An object that is called as a function of the C library is, another as a keyword, and one that makes a function's
    # name one of the library's.
    for name, function in (("index", "index_f0"), ("while", "while_f0"), ("pthread", "pthread_join_1")):
        own = [*compile_tool, programs / "names.own", "-o", directory / f"{name}.o", "--header", directory / f"{name}.h"]
        run(own)
        taken = name if name == "pthread" else f"{name}_1"
        code = f"""#include <pthread.h>
#include <stdlib.h>
#include <strings.h>
#include "{name}.h"
int main(void) {{
  float a[2] = {{1, 2}}, b[2] = {{3, 4}}, sum[2];
  calque_model *model = calque_open(&{taken});
  if (!model || {function}(model, a, 2, b, 2, sum, 2, NULL))
    return 1;
  calque_close(model);
  return sum[1] != 6;
}}
"""
        (directory / f"{name}.c").write_text(code)
        for language in ("c", "c++"):
            run(
                [compiler, *flags, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-I", directory, "-x", language]
                + [directory / f"{name}.c", "-x", "none", directory / f"{name}.o", library, "-lm", "-lpthread"]
                + ["-o", directory / name]
            )
            run([*emulator, directory / name])


main()
