"""The messages that the sources can give, read from the C++ text.

A message is a list of parts: literal text, or None for what is known at run time only. A conditional gives a message for
each of its branches; a variable or a function that makes up most of a message is followed to where it is given its text.
"""
import functools
import itertools
import pathlib
import re
from dataclasses import dataclass

from records import ROOT

TOKEN = re.compile(
    r'(?P<space>\s+|//[^\n]*|/\*.*?\*/)'
    r'|(?P<raw>R"(\w*)\((?P<body>.*?)\)\3")|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<char>\'(?:[^\'\\\n]|\\.)+\')'
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.']*)|(?P<sign><<=?|>>|::|->|\+\+|--|\+=|[-*/=!<>&|]=|&&|\|\||.)",
    flags=re.S,
)
PLACE = re.compile(r"\{([\w*]+)\}") # what siteMessage of program/SiteText.h fills in
FORMAT = re.compile(r"%(?:%|[-+ 0#]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?\w)") # what StrFormat fills in
FUNCTIONS = 10 # a depth at which calls are followed, too
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, ")]}"
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "'": "'", "\\": "\\", "0": "\0"}


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    at: int


@functools.cache
def tokens(text):
    """The tokens of a source without spaces and comments; a string is its contents."""
    found = []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "body" else "raw"
        if kind == "space":
            continue
        if match["raw"]:
            found.append(Token("string", match["body"], match.start()))
        elif kind in ("string", "char"):
            found.append(Token("string", re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[1]), match[0][1:-1]), match.start()))
        else:
            found.append(Token(kind, match[0], match.start()))
    return found


def isSign(token, *signs):
    return token.kind == "sign" and token.text in signs


def closing(found, i):
    """The index of the bracket that closes the one at i."""
    depth = 0
    for j in range(i, len(found)):
        if isSign(found[j], *OPEN):
            depth += 1
        elif isSign(found[j], *CLOSE):
            depth -= 1
            if not depth:
                return j
    return len(found) - 1


def split(found, *signs, most=-1):
    """The pieces between signs that stand in no brackets."""
    pieces, last, i = [], 0, 0
    while i < len(found):
        if isSign(found[i], *OPEN):
            i = closing(found, i)
        elif isSign(found[i], *signs) and most:
            pieces.append(found[last:i])
            last, most = i + 1, most - 1
        i += 1
    return pieces + [found[last:]]


def words(parts):
    """How many words the longest literal part has."""
    return max((len(re.findall(r"[A-Za-z']{2,}", part)) for part in parts if part), default=0)


def joined(parts):
    """Neighbouring literals as one, neighbouring unknowns as one."""
    result = []
    for part in parts:
        if part is None and result and result[-1] is None or part == "":
            continue
        if part is not None and result and result[-1] is not None:
            result[-1] += part
        else:
            result.append(part)
    return tuple(result)


def formatted(text):
    """The parts of a format of StrFormat."""
    parts, last = [], 0
    for match in FORMAT.finditer(text):
        parts += [text[last : match.start()], "%" if match[0] == "%%" else None]
        last = match.end()
    return joined([*parts, text[last:]])


class Source:
    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(ROOT))
        self.text = path.read_text()
        self.tokens = tokens(self.text)

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def argument(self, i, which=0):
        """An argument of the call whose bracket is at i."""
        arguments = split(self.tokens[i + 1 : closing(self.tokens, i)], ",")
        return arguments[which] if which < len(arguments) else []

    def stream(self, i):
        """What is streamed, up to the end of the statement, into what the call whose bracket is at i returns."""
        begin = closing(self.tokens, i) + 1
        if begin >= len(self.tokens) or not isSign(self.tokens[begin], "<<"):
            return []
        return split(self.tokens[begin : begin + 400], ";", ",", ")")[0]

    def values(self, found, depth):
        """The texts that an expression can have. With depth, names are followed to what gives them their text."""
        if not found:
            return [()]
        condition = split(found, "?", most=1)
        if len(condition) == 2:
            branches = split(condition[1], ":", most=1)
            return [value for branch in branches for value in self.values(branch, depth)]
        pieces = [piece for piece in split(found, "+", "<<") if piece]
        if len(pieces) > 1:
            return self.sums(pieces, depth)
        found = pieces[0]
        if all(token.kind == "string" for token in found):
            return [("".join(token.text for token in found),)]
        if isSign(found[0], "(") and closing(found, 0) == len(found) - 1:
            return self.values(found[1:-1], depth)
        names = [token.text for token in found if token.kind == "word"]
        bracket = next((i for i, token in enumerate(found) if isSign(token, "(")), None)
        if bracket and closing(found, bracket) == len(found) - 1:
            called, arguments = "".join(token.text for token in found[:bracket]), split(found[bracket + 1 : -1], ",")
            if called in ("std::string", "llvm::Twine"):
                return self.values(arguments[0], depth)
            if called == "absl::StrCat":
                return self.sums(arguments, depth)
            if called == "absl::StrFormat":
                return [formatted("".join(token.text for token in arguments[0]))]
        if depth and names:
            followed = self.follow(found, names, depth - 1)
            if followed:
                return followed
        return [(None,)]

    def sums(self, pieces, depth):
        """The texts that expressions can have one behind another."""
        every = [self.values(piece, depth) for piece in pieces]
        return list(dict.fromkeys(joined(itertools.chain(*chosen)) for chosen in itertools.product(*every)))

    def follow(self, found, names, depth):
        """The texts of a variable, a lambda without parameters or a function."""
        before = self.text[: found[0].at]
        function = max(before.rfind("\n}"), before.rfind("\n\n"), 0) if before.rfind("\n}") < 0 else before.rfind("\n}")
        values = []
        if names[1:] in ([], ["str"], ["value"]):
            # The first value, and what is added to it as unknown; each of several values.
            for match in re.finditer(r"\b%s (=|<<) (?!\[)" % names[0], before[function:]):
                values += self.values(self.statement(function + match.end()), depth)
                if match[1] == "<<":
                    break
            if re.search(r"\b%s \+= |\bStrAppend\(&%s," % (names[0], names[0]), before[function:]):
                values = [(*value, None) for value in values]
            lambdas = list(re.finditer(r"\bauto %s = \[[^\]]*\](?:\([^)]*\))? *\{\s*return " % names[0], before[function:]))
            if lambdas:
                values += self.values(self.statement(function + lambdas[-1].end()), depth)
        if FUNCTIONS <= depth and any(isSign(token, "(") for token in found) and not any(words(value) for value in values):
            values = []
            called = next(found[i - 1].text for i, token in enumerate(found) if isSign(token, "("))
            for source in (*sources(self.path.relative_to(ROOT).parts[0]), *sources("program")):
                for match in re.finditer(r"^(?:static )?std::string (?:\w+::)?%s\(.*?^\}" % called, source.text, flags=re.S | re.M):
                    for result in re.finditer(r"\breturn ", match[0]):
                        if not source.isInLambda(match.start() + result.start(), match.start()):
                            values += source.values(source.statement(match.start() + result.end()), depth)
        return [value for value in dict.fromkeys(values) if words(value)]

    def isInLambda(self, at, begin):
        """Whether a place in the text is inside of a lambda that begins behind another place."""
        for i, token in enumerate(self.tokens):
            if begin < token.at < at and isSign(token, "[") and isSign(self.tokens[i - 1], "=", "(", ",", "{"):
                body = next(j for j in range(i, len(self.tokens)) if isSign(self.tokens[j], "{", ";"))
                if isSign(self.tokens[body], "{") and self.tokens[closing(self.tokens, body)].at > at:
                    return True
        return False

    def statement(self, at):
        """The tokens from a place in the text to the end of the statement."""
        begin = next(i for i, token in enumerate(self.tokens) if token.at >= at)
        return split(self.tokens[begin : begin + 300], ";")[0]

    def messages(self, found):
        """The messages of an expression, as deep as it takes to find words."""
        for depth in (0, 1, 2, FUNCTIONS + 3):
            values = list(dict.fromkeys(joined(value) for value in self.values(found, depth)))
            if all(words(value) >= (4 if depth < 2 else 1) for value in values):
                break
        return values


@functools.cache
def sources(folder):
    return [Source(path) for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".cpp", ".h", ".def")]


@dataclass(frozen=True)
class Message:
    kind: str # the class of the user's error, or "warning", "note", "static_assert", "tool"
    prefix: tuple # what is written before the parts
    parts: tuple
    file: str
    line: int
    expression: str

    def whole(self):
        return joined((*self.prefix, *self.parts))

    def __str__(self):
        return "".join("<...>" if part is None else part for part in self.whole())


FAULTS = {"shapeFault": "ShapeError", "dtypeFault": "DTypeError", "valueFault": "ValueError"}
SUBCLASSES = {"SizesDisagree": "ShapeError"} # of Calque's own, which users know as the public class
OF_OPERATION, OF_OP, OF_FILE = (None, ": "), ("'", None, "' op "), (None, ": ")
OF_FILES = ("training/data", "frontend/saving/FileWriter", "frontend/saving/TensorFile", "frontend/saving/Checkpoint") # whose fail() begins with the path


def given(source):
    """The calls that give a message: its kind, the index of the call's bracket, and what is written before the text."""
    found = source.tokens
    for i, token in enumerate(found[:-2]):
        if token.kind != "word":
            continue
        name = token.text
        if name == "throw":
            bracket = next(j for j in range(i + 1, len(found)) if isSign(found[j], "(", ";", "{"))
            thrown = SUBCLASSES.get(found[bracket - 1].text, found[bracket - 1].text)
            if isSign(found[bracket], "(") and thrown.endswith("Error"):
                yield thrown, bracket, ()
        elif name == "fail" and isSign(found[i + 1], "<") and i and found[i - 1].text != "void":
            bracket = next(j for j in range(i + 1, len(found)) if isSign(found[j], "("))
            yield found[bracket - 2].text, bracket, ()
        elif not isSign(found[i + 1], "("):
            continue
        elif name in ("requireType", "fitting") and found[i - 1].text not in ("void", "Tensor"):
            yield from ((kind, i + 1, ()) for kind in ("DTypeError", "ShapeError"))
        elif name in FAULTS and source.name != "schema/TypeRules.h":
            yield FAULTS[name], i + 1, OF_OPERATION
        elif name in ("emitOpError", "emitError"):
            kind = "tool" if source.name.startswith("tools") else "CompileError"
            yield kind, i + 1, OF_OP if name == "emitOpError" else ()
        elif name == "refuse" and source.name.startswith(("ir/", "passes/", "codegen/")):
            yield "CompileError", i + 1, OF_OP
        elif name == "refuse" and source.name.startswith("interchange/onnx/export/"):
            yield "ValueError", i + 1, ("save_onnx: ",) if source.name.endswith("SaveOnnx.cpp") else ("save_onnx: ", None, ": ")
        elif name == "refuse" and source.name.startswith("interchange/stablehlo/export/"):
            yield "ValueError", i + 1, ("save_stablehlo: ",) if source.name.endswith("SaveStableHlo.cpp") else ("save_stablehlo: ", None, ": ")
        elif name == "refuse" and source.name.startswith("tools/calque-opt"):
            yield "tool", i + 1, ()
        elif name in ("warn", "printWarning") and "void" not in (found[i - 1].text, found[i - 3].text): # no declaration, no definition
            yield "warning", i + 1, ()
        elif name == "fail" and source.name.startswith(OF_FILES) and found[i - 1].text not in ("void", "::"):
            yield "DataError", i + 1, OF_FILE
        elif name == "refused" and source.name.startswith(("runtime", "standalone")) and found[i - 1].text != "LoadResult":
            yield "CompileError", i + 1, ()
        elif name == "fail" and source.name.startswith(("tools/calque-dump", "tools/calque-kernels")) and found[i - 1].text != "int":
            yield "tool", i + 1, ("%s: " % pathlib.PurePath(source.name).stem,)


def ofSites(source):
    """The messages of program/SiteKinds.def."""
    for i, token in enumerate(source.tokens):
        if token.text != "CALQUE_SITE_KIND":
            continue
        kind = source.argument(i + 1, 2)[0].text
        text = "".join(part.text for part in source.argument(i + 1, 3))
        pieces = PLACE.split(text) # literals, and places between them
        sizes = [source.values(tokens("describeSizes()"), FUNCTIONS + 1)] if "{sizes}" in text else []
        for described in itertools.chain(*sizes) if sizes else [()]:
            filled = [described if n % 2 and piece == "sizes" else (None,) if n % 2 else (piece,) for n, piece in enumerate(pieces)]
            yield Message(kind, (), joined(itertools.chain(*filled)), source.name, source.line(token.at), text)


def ofSource(source):
    if source.name == "program/SiteKinds.def":
        yield from ofSites(source)
        return
    found = source.tokens
    for kind, bracket, prefix in given(source):
        expression = source.argument(bracket)
        if found[bracket - 1].text == "emitError" and len(split(found[bracket + 1 : closing(found, bracket)], ",")) > 1:
            expression = source.argument(bracket, 1) # emitError(location, text)
        if found[bracket - 1].text == "refuse": # refuse(text) or refuse(op, text); without one it is said elsewhere
            every = (source.argument(bracket, which) for which in (0, 1))
            expression = next((each for each in every if any(token.kind == "string" for token in each)), [])
            if not expression:
                continue
        streamed = source.stream(bracket)
        if found[bracket - 1].text in ("emitOpError", "emitError") and streamed:
            if not any(token.kind == "string" for token in expression):
                expression = [] # a location
            expression = [*expression, *streamed]
        yield from make(source, kind, prefix, expression, found[bracket].at)
    for i, token in enumerate(found[:-2]):
        if token.text == "static_assert" and source.name.split("/")[-2] in ("calque", "solvers", "distributed"):
            text = source.argument(i + 1, -1)
            # A macro may go on with names from a table.
            literals = list(itertools.takewhile(lambda part: part.kind == "string", text))
            if literals:
                yield from make(source, "static_assert", (), literals, token.at)
        elif source.name.startswith(("frontend", "program")) and token.text in ("note", "reason") and isSign(found[i + 1], "="):
            expression = split(found[i + 2 : i + 200], ";")[0]
            if any(part.kind == "string" for part in expression):
                yield from make(source, "note", (), expression, token.at)
        elif source.name.startswith("codegen") and token.text == "error" and isSign(found[i + 1], "=") and found[i + 2].kind == "string":
            yield from make(source, "CompileError", (), split(found[i + 2 : i + 200], ";")[0], token.at)
        elif source.name == "runtime/Kernels.cpp" and token.text == "error" and isSign(found[i + 1], "=") and found[i + 2].kind == "string":
            yield from make(source, "CompileError", (), [found[i + 2]], token.at)
        elif source.name == "runtime/CodeCache.cpp" and token.text == "error" and isSign(found[i + 1], "="):
            yield from make(source, "ValueError", (), split(found[i + 2 : i + 200], ";")[0], token.at)
        elif source.name.startswith("tools/calque-opt") and token.text == "errs":
            text = source.stream(i + 1)
            if any(part.kind == "string" and part.text.strip() for part in text): # else it passes on what others say
                yield from make(source, "tool", (), text, token.at)


def make(source, kind, prefix, expression, at):
    for parts in source.messages(expression):
        yield Message(kind, prefix, parts, source.name, source.line(at), "".join(token.text for token in expression))


def messages(*folders):
    """Each message that the sources of the folders can give. One without words passes on what others say."""
    return [message for folder in folders for source in sources(folder) for message in ofSource(source)]
