"""Fails unless the programs of a page, which stand indented, are in a source file that is compiled and run: PAGE SOURCE

Indentation does not count. What stands between fences is another test's."""
import pathlib
import re
import sys

page, source = (pathlib.Path(name).read_text() for name in sys.argv[1:])


def plain(text):
    return "\n".join(line.strip() for line in text.strip().splitlines() if line.strip())


page = re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)
programs = [plain(block) for block in re.findall(r"(?:^ {4}.*\n(?:\n(?= {4}))?)+", page, flags=re.M)]
if not programs:
    sys.exit("the page has no programs")
missing = [program for program in programs if program not in plain(source)]
if missing:
    sys.exit("not in " + sys.argv[2] + ":\n\n" + "\n\n".join(missing))
