"""Fails where the index of the pages or of the examples leaves one out, a link of a page leads nowhere, a page names a file that is not
there, or uses a word for which docs/glossary.md has another one: ROOT

Named files are those in backquotes that begin with a folder of the project. An extension may be left out."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
folders = {entry.name for entry in root.iterdir() if entry.is_dir() and entry.name not in ("build", ".git")}
pages = sorted(page for page in root.rglob("*.md") if "build" not in page.relative_to(root).parts)
# What the records and their messages are made into; readers look at the records.
generated = {"docs/reference.md"}
# Words, and those of the glossary. Messages are quoted as they are.
instead = {r"\bopen (?:size|batch|rank|dimension)s?\b|\bleft open\b": "unknown"}
quoting = {"docs/glossary.md", "docs/messages.md", "CHANGELOG.md"}
faults = []


def anchors(page):
    names = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M), flags=re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        names.add(re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-"))
    return names


def links(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    text = re.sub(r"^ {4}.*$", "", text, flags=re.M)
    text = re.sub(r"`[^`\n]*`", "", text)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


def target(page, link):
    return (page.parent / link.partition("#")[0]).resolve() if link.partition("#")[0] else page.resolve()


for page in pages:
    name = str(page.relative_to(root))
    for link in links(page):
        to, anchor = target(page, link), link.partition("#")[2]
        if not to.exists():
            faults.append(f"{name}: the link {link} leads nowhere")
        elif anchor and to.suffix == ".md" and anchor not in anchors(to):
            faults.append(f"{name}: the link {link} names no heading")
    if name in generated:
        continue
    for word, better in instead.items():
        if name not in quoting:
            faults += [f"{name}: '{found}' is '{better}' in the glossary" for found in re.findall(word, re.sub(r"`[^`\n]*`", "", page.read_text()))]
    for named in re.findall(r"`([\w.\-]+/[\w./\-+]*)`", page.read_text()):
        if named.split("/")[0] not in folders or named.startswith("build/"):
            continue
        there = [named] + [named + extension for extension in (".h", ".cpp", ".td", ".py")]
        if not any((root / file).exists() for file in there):
            faults.append(f"{name}: there is no {named}")


def check(index, files):
    linked = {target(index, link) for link in links(index)}
    faults.extend(f"{index.relative_to(root)}: {file.relative_to(root)} is missing"
                  for file in sorted(files) if file.resolve() not in linked and file != index)


docs = root / "docs"
check(docs / "index.md", docs.rglob("*.md"))
examples = root / "examples"
check(examples / "README.md", [file for suffix in ("*.cpp", "*.c", "*.h") for file in examples.rglob(suffix)])
print(*faults, sep="\n")
sys.exit(bool(faults))
