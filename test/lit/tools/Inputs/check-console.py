"""Runs the commands of a Markdown page and compares what they print with what the page shows.

A block is indented by four spaces and starts with "$ ". Each line after "$ " is a command for the shell, run in this
folder, and goes on in lines that start with "> "; the lines below it, up to the next command, are its standard output, in
which "..." stands for any lines.
"""
import re
import subprocess
import sys


def commands(page):
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", page, re.MULTILINE):
        lines = [line[4:] for line in block.strip("\n").split("\n")]
        if not lines[0].startswith("$ "):
            continue
        for part in re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]:
            command, *output = part.split("\n")
            while output and output[0].startswith("> "):
                command += "\n" + output.pop(0)[2:]
            yield command, "\n".join(output).strip("\n")


page = open(sys.argv[1]).read()
ran = 0
for command, expected in commands(page):
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    pattern = r"\n".join("(?:.*\n)*?.*" if line == "..." else re.escape(line) for line in expected.split("\n"))
    if not re.fullmatch(pattern, result.stdout.strip("\n")):
        sys.exit(f"$ {command}\nprints\n{result.stdout}{result.stderr}and the page shows\n{expected}")
    ran += 1
if not ran:
    sys.exit(f"{sys.argv[1]} has no commands")
