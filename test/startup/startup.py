# Starts a program again and again on one cache of native code: first with none, then with what the process before left, then with
# every file of it damaged. What it prints must not change, and LLVM must be loaded where something is compiled and nowhere else.
#
#   startup.py PROGRAM DIRECTORY INSTALLED
#
# INSTALLED is 1 where the build has compiled eager operations: then a program of these alone loads no LLVM at its first start.
import os
import pathlib
import random
import shutil
import subprocess
import sys

program, directory, installed = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] == "1"
cache = directory / "cache"


def run(*arguments, **environment):
    given = {**os.environ, "CALQUE_CACHE": str(cache), **environment}
    result = subprocess.run([program, *arguments], env=given, capture_output=True, text=True)
    assert result.returncode == 0, (result.returncode, result.stderr)
    return result.stdout, result.stderr.strip().splitlines()[-1]


def expect(found, wanted, what):
    assert found == wanted, f"{what}: expected {wanted!r}, found {found!r}"


def files():
    return sorted(path for path in cache.rglob("*") if path.is_file())


shutil.rmtree(directory, ignore_errors=True)
directory.mkdir(parents=True)

eager, loaded = run("eager", CALQUE_CACHE="off")
expect(loaded, "no LLVM" if installed else "LLVM is loaded", "the first start of an eager program")

expected, loaded = run()
expect(loaded, "LLVM is loaded", "the first start")
assert expected.startswith(eager), "an eager program prints something else than the same calls in another"
made = len(files())
assert made > 10, f"the first start left {made} files"

text, loaded = run()
expect(text, expected, "the second start")
expect(loaded, "no LLVM", "the second start")
expect(len(files()), made, "files after the second start")

# A program's file has the images of its kernels.
kernels = [path for path in files() if b"calque-image\n" in path.read_bytes()[:80]]
assert kernels, "there are no files of kernels"
for path in kernels:
    path.unlink()
expect(run(), (expected, "no LLVM"), "a start without the files of kernels")

text, loaded = run(CALQUE_CACHE="off")
expect(text, expected, "a start without a cache")
expect(loaded, "LLVM is loaded", "a start without a cache")

text, loaded = run(CALQUE_OPTIMIZE="0")
expect(loaded, "LLVM is loaded", "the first start without optimisations")

# Two processes at once, from nothing.
shutil.rmtree(cache)
environment = dict(os.environ, CALQUE_CACHE=str(cache))
racing = [subprocess.Popen([program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
for each in racing:
    expect(each.communicate()[0], expected, "one of two processes")
expect(run(), (expected, "no LLVM"), "the start after two processes")

# Every file damaged in another place.
random.seed(14)
for path in files():
    content = bytearray(path.read_bytes())
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)
expect(run(), (expected, "LLVM is loaded"), "a start on damaged files")
expect(run(), (expected, "no LLVM"), "the start after it")

# Every file cut.
for path in files():
    os.truncate(path, random.randrange(path.stat().st_size))
expect(run(), (expected, "LLVM is loaded"), "a start on files that are cut")

# Half of the files gone.
left = sorted(files(), key=lambda path: path.stat().st_size)
for path in left[::2]:
    path.unlink()
expect(run()[0], expected, "a start with half of the files")

# A directory that can't be written.
shutil.rmtree(cache)
cache.mkdir(mode=0o700)
cache.chmod(0o500)
expect(run()[0], expected, "a directory that is only read")
cache.chmod(0o700)
shutil.rmtree(directory)

# A program with other rights than its user's lets the environment choose no library to load and no file to write. Root can make one, on a
# file system that allows it and in folders that others may enter.
if os.getuid() == 0:
    folder = directory / "setuid"
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)
    written = folder / "written"

    def of_nobody(path):
        copy = folder / pathlib.Path(path).name
        shutil.copy(path, copy)
        os.chown(copy, 65534, 65534)
        copy.chmod(0o4755)
        return str(copy)

    other = of_nobody(program)
    if subprocess.run([of_nobody(shutil.which("id")), "-u"], capture_output=True, text=True).stdout == "65534\n" and \
            subprocess.run([other, "eager"], capture_output=True).returncode == 0:
        given = {**os.environ, "CALQUE_COMPILER_LIBRARY": "/nowhere/compiler.so", "CALQUE_DUMP": "traced", "CALQUE_DUMP_FILE": str(written)}
        result = subprocess.run([other], env=given, capture_output=True, text=True)
        expect((result.returncode, result.stdout), (0, expected), "a program with the rights of another user")
        assert not written.exists(), "a program with the rights of another user wrote the file that CALQUE_DUMP_FILE names"
    shutil.rmtree(directory)
