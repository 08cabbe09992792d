"""Fails unless docs/messages.md has a row for every message that the sources can give and no others, and unless each is
provoked by a test: an expectation in test/ has a distinctive part of its text.

In the table `<shape>` stands for what is known at run time only. Each class of errors has a section of its own; a row of
one of the sections in ANY_CLASS describes messages of any class.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "lit" / "scripts"))
from messages import OF_OP, OF_OPERATION, joined, messages, tokens, words

PAGE = ROOT / "docs" / "messages.md"
SECTIONS = {"warning": "Warnings", "note": "Notes of explain_retraces()", "static_assert": "Messages of the C++ compiler", "tool": "Messages of the tools"}
ANY_CLASS = ("IR written by hand", "Faults of Calque")
UNPROVOKED = "Faults of Calque"  # its rows say why no test provokes them

# What passes on texts that are messages themselves, or not Calque's.
RELAYED = {
    "fault.message": "of the type rules",
    "compiled.error.empty()?the compiler gave no reason:compiled.error": "of the compiler",
    "printed.error": "of the compiler",
    "settings.error": "of the cache on disk",
    "siteMessage(site,none,words)": "of program/SiteKinds.def",
    "{text}{elements}": "the user's own, of assert_true",
    "absl::StrCat(path,: ,fault)": "of the calls of fail",
    "absl::StrCat(path_,: ,fault)": "of the calls of fail",
    "message": "of the calls of requireType and fitting",
    "why": "of the calls of refuse",
    "named": "of an option of a layer, behind the layer's name",
    "std::strerror(errno)": "of the operating system",
    "absl::StrCat(path,: ,message)": "of another MemoryError",
    "failed": "of an operation whose kernel fails, behind the function's name",
    "error": "of the compiler, or of the operating system",
    "std::string(node_.label)+: +message": "of an operator of ONNX, behind the node's name",
    "file_+: +message": "of the calls of refuse of the linker of ONNX",
    "text": "of the calls of refuse of what writes ONNX and StableHLO",
    "std::string(operation_.label)+: +message": "of an operation of StableHLO, behind its name and line",
    "file_+:+std::to_string(line)+: +message": "of the calls of refuse of what links StableHLO",
    "file_+:+std::to_string(line())+: +message": "of the calls of refuse of what reads StableHLO",
    "file_+: +error.what()": "of an operator of ONNX",
}

faults = []


def report(file, line, text):
    faults.append("%s:%d: %s" % (file, line, text))


#===-- The page ---------------------------------------------------------------------------------===#


class Row:
    def __init__(self, line, section, text):
        self.line, self.section, self.text, self.used = line, section, text, False
        pieces = re.split(r"<[a-z][^<>]*>", text)
        self.pattern = re.compile(".+?".join(map(re.escape, pieces)), flags=re.S)
        if max(words([piece]) for piece in pieces) < 2:
            report("docs/messages.md", line, "`%s` fits too much: it has no two words beside each other" % text)


rows, section = [], ""
for number, line in enumerate(PAGE.read_text().splitlines(), 1):
    if line.startswith("## "):
        section = line[3:].strip()
    elif line.startswith("| `"):
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        if len(cells) != 3 or not all(cell.strip() for cell in cells):
            report("docs/messages.md", number, "a row has three cells, none of them empty")
        rows += [Row(number, section, text.replace("\\|", "|")) for text in re.findall(r"`([^`]+)`", cells[0])]

#===-- The tests --------------------------------------------------------------------------------===#


def expectations():
    """The texts that tests expect, in pieces where one has a regular expression inside."""
    for path in sorted((ROOT / "test").rglob("*")):
        if path.suffix in (".cpp", ".h"):
            strings, last = [], None
            for token in tokens(path.read_text()):
                if token.kind == "string" and last == "string":
                    strings[-1] += token.text
                elif token.kind == "string":
                    strings.append(token.text)
                last = token.kind
            for text in strings:
                yield from re.split(r"\.\*|\.\+", text)
        elif path.suffix in (".mlir", ".test"):
            for line in path.read_text().splitlines():
                if found := re.search(r"expected-\w+(?:-re)? .*?\{\{(.*)\}\}", line):
                    yield from re.split(r"\{\{.*?\}\}", found[1])
                elif found := re.search(r"^\W*(?!RUN|DEFINE)[A-Z][A-Z-]*: *(.*)", line): # FileCheck's
                    yield from re.split(r"\{\{.*?\}\}|\[\[.*?\]\]", found[1])
        elif path.name == "CMakeLists.txt":
            for found in re.findall(r'"([^"]+)"', path.read_text()):
                yield from re.split(r"\.\*", found)


def shared(text, parts):
    """How many characters of the literal parts a text repeats, when the text can be a part of the message."""
    parts = joined((None, *parts, None))
    best = 0

    def walk(at, part, count):
        # `at` characters are matched, all of the parts before this one.
        nonlocal best
        best = max(best, count if at == len(text) or part == len(parts) or parts[part] is None else 0)
        if at == len(text) or part == len(parts):
            return
        if parts[part] is not None:
            follow(at, part, 0, count)
        elif part + 1 < len(parts):
            found = text.find(parts[part + 1][:4], at)
            while found >= 0:
                follow(found, part + 1, 0, count)
                found = text.find(parts[part + 1][:4], found + 1)

    def follow(at, part, offset, count):
        nonlocal best
        literal = parts[part][offset:]
        if text.startswith(literal, at):
            walk(at + len(literal), part + 1, count + len(literal))
        elif literal.startswith(text[at:]):
            best = max(best, count + len(text) - at)

    for part, literal in enumerate(parts):
        if literal is None:
            walk(0, part, 0)
            continue
        offset = literal.find(text[:4])
        while offset >= 0:
            follow(0, part, offset, 0)
            offset = literal.find(text[:4], offset + 1)
        for offset in range(max(0, len(literal) - 3), len(literal)):
            follow(0, part, offset, 0)
    return best


def provocations(templates):
    """The templates that a test provokes: those that an expectation has whole, and the one of which it has more than of others."""
    grams, totals, found = {}, {}, set()
    for template in templates:
        literals = [part for part in template if part]
        totals[template] = sum(map(len, literals))
        for literal in literals:
            for i in range(max(1, len(literal) - 5)):
                grams.setdefault(literal[i : i + 6], set()).add(template)
    for text in {text for text in expectations() if words([text]) >= 2}:
        near = set().union(*(grams.get(text[i : i + 6], ()) for i in range(len(text))))
        scores = {template: shared(text, template) for template in near}
        most = max(scores.values(), default=0)
        best = [template for template in near if scores[template] == most and most >= min(14, totals[template] / 2)]
        found |= {template for template in near if scores[template] == totals[template]}
        found |= set(best if len(best) == 1 else ())
    return found


#===-- Comparing --------------------------------------------------------------------------------===#

relayed = set()
given = messages("frontend", "training", "solvers", "distributed", "interchange", "schema", "ir", "passes", "codegen", "runtime", "program", "standalone", "tools")
provoked = provocations({message.parts for message in given if words(message.parts)})
for message in given:
    if not words(message.parts):
        if message.expression not in RELAYED:
            report(message.file, message.line, "a message has no text of its own: %s" % message.expression)
        relayed.add(message.expression)
        continue
    # Of a function's program the compiler says "reshape: ...", of IR written by hand "'calque.reshape' op ...".
    prefixes = {message.prefix, OF_OPERATION if message.prefix == OF_OP else message.prefix}
    rendered = ["".join("\0" if part is None else part for part in joined((*prefix, *message.parts))).strip() for prefix in prefixes]
    expected = SECTIONS.get(message.kind, message.kind)
    found = [row for row in rows if row.section in (expected, *ANY_CLASS) and any(map(row.pattern.fullmatch, rendered))]
    if not found:
        report(message.file, message.line, "docs/messages.md has no row in section %s for: %s" % (expected, message))
    for row in found:
        row.used = True
    if found and all(row.section == UNPROVOKED for row in found):
        continue
    if message.parts not in provoked:
        report(message.file, message.line, "no test provokes: %s: %s" % (message.kind, message))

for row in rows:
    if not row.used:
        report("docs/messages.md", row.line, "no source has a message of section %s such as: %s" % (row.section, row.text))
for expression in RELAYED.keys() - relayed:
    report("test/docs/check_messages.py", 1, "RELAYED has an expression that no source has: %s" % expression)

print(*faults, sep="\n")
print("%d messages, %d rows, %d faults" % (len(given), len(rows), len(faults)))
sys.exit(bool(faults))
