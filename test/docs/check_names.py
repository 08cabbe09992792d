"""Fails unless each function that a page's tables name stands in a public header or in the reference: PAGE ROOT

The names are those in backquotes in the second column."""
import pathlib
import re
import sys

page = pathlib.Path(sys.argv[1])
root = pathlib.Path(sys.argv[2])
text = (root / "docs/reference.md").read_text()
for folder in ["frontend/include", "training/include"]:
    for header in (root / folder).rglob("*.h"):
        text += header.read_text()

names, missing = 0, []
for line in page.read_text().splitlines():
    cells = line.split(" | ")
    if not line.startswith("| ") or len(cells) < 3:
        continue
    for name in re.findall(r"`([^`]*)`", cells[1]):
        if "=" in name or "." in name:
            continue
        names += 1
        last = name.split("::")[-1]
        if not re.search(r"\b" + last + r"\(|LossFunction\w*(?:<\w+>)? " + last + r"\b|\b" + last + r"[{;]|CALQUE_DECLARE_LOSS_FUNCTION\(" + last + r"\b|class CALQUE_API " + last + r"\b|^class " + last + r"\b", text, flags=re.M):
            missing.append(name)
if names < 50:
    sys.exit("the page names only %d functions" % names)
if missing:
    sys.exit("in no public header: " + ", ".join(missing))
