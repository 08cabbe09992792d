"""Runs a test that needs Python's packages: with-packages.py FOLDER [COMMAND...]

Makes a virtual environment in FOLDER, once, into which pip installs the packages. A COMMAND that is a script of Python
runs in it, and any other finds its interpreter as CALQUE_TEST_PYTHON. Says "skipped: ..." where the packages are not
there and can't be installed. CALQUE_TEST_PYTHON, where it is set already, is the interpreter, and nothing is installed.
"""
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

PACKAGES = ["numpy", "safetensors", "tensorboard"]
INSTALLING = 240 # seconds at most


def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALLING)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else (done.stderr or done.stdout).strip()


def environment(folder):
    """The interpreter of the environment, which is made unless it is there, or None, and why."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    python, complete = folder / "bin" / "python", folder / "complete"
    # Tests may come from several processes at once.
    with open(folder.with_name(folder.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if complete.exists() and complete.read_text().split() == PACKAGES and python.exists():
            return python, None
        shutil.rmtree(folder, ignore_errors=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--retries", "1", "--timeout", "15"]
        fault = run(sys.executable, "-m", "venv", str(folder)) or run(*pip, *PACKAGES)
        if fault:
            return None, fault
        complete.write_text(" ".join(PACKAGES))
        return python, None


folder, *command = sys.argv[1:]
python, fault = os.environ.get("CALQUE_TEST_PYTHON"), None
if not python:
    python, fault = environment(pathlib.Path(folder).absolute())
if not python:
    print("skipped: there are no packages", ", ".join(PACKAGES), "for Python, and they can't be installed:", fault.splitlines()[-1])
elif command:
    if command[0].endswith(".py"):
        command = [str(python), "-B", *command]
    sys.exit(subprocess.run(command, env={**os.environ, "CALQUE_TEST_PYTHON": str(python)}).returncode)
