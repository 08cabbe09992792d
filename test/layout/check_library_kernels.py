"""Checks that an operation that a kernel of a library serves costs no more than CONTRIBUTING says: check_library_kernels.py SOURCE

- The record, the kernel's file in runtime/libraries/ and the type rule are the only files of the library that name such an operation. So is
  the one that unrolls factorisations of a few rows in loops: their state is in registers, where no kernel can be called.
- A kind of failures is one line of program/SiteKinds.def: besides it only code that makes or reads that kind names it.
"""
import pathlib
import re
import sys

CODE = ("schema", "runtime", "program", "standalone", "ir", "passes", "codegen", "frontend")
# How many files besides the record and the kernel's may name an operation: those of its type rule.
RULE = ("ir/TypeRules.td", "schema/")
UNROLLED = "codegen/lowering/SmallLibrary.cpp"
# Kinds that no code but the table names would be unused; those that a great many files name were listed somewhere again.
MOST_FILES_OF_KIND = 7  # that many name users' operations, of which ordered ones tell their objects of code


def main(root):
    root = pathlib.Path(root)
    files = {str(path.relative_to(root)): path.read_text() for folder in CODE for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".h", ".cpp", ".td", ".def", ".txt", ".cmake", ".in")}
    faults, operations = [], 0
    for record, text in files.items():
        for name, mnemonic, kernel in re.findall(r'def Calque_(\w+)Op\s+: Calque_(?:Library|Matrix|MatrixParts|SpectralPairs)Op<"(\w+)", "\w+", "(\w+)"', text):
            operations += 1
            word = re.compile(r"\b(?:%s|%s|%sOp|%s)\b" % (mnemonic, name, name, kernel), re.I)
            for path, other in files.items():
                # The front end's own functions call it as users do, and their headers declare these. Rules of derivatives stand in ir/.
                if path == record or path.startswith(("runtime/libraries/", "frontend/operations/", "frontend/include/", "ir/", UNROLLED, *RULE)):
                    continue
                code = re.sub(r"//[^\n]*", "", other)
                if word.search(code):
                    faults.append("%s names '%s', which its record and its kernel alone should" % (path, mnemonic))
            if not any(kernel in files[path] for path in files if path.startswith("runtime/libraries/")):
                faults.append("no file of runtime/libraries/ has the kernel %s" % kernel)
    if not operations:
        faults.append("no record is a Calque_LibraryOp")
    kinds = re.findall(r"^CALQUE_SITE_KIND\((\w+), \"(\w+)\"", files["program/SiteKinds.def"], flags=re.M)
    for kind, name in kinds:
        naming = [path for path, text in files.items() if re.search(r"Kind::%s\b|\"%s\"" % (kind, name), text) and path != "program/SiteKinds.def"]
        if not 1 <= len(naming) <= MOST_FILES_OF_KIND:
            faults.append("%d files name the kind of failures %s, which should be 1 to %d: %s" % (len(naming), kind, MOST_FILES_OF_KIND, ", ".join(naming)))
    print(*faults, sep="\n")
    print("%d operations of libraries, %d kinds of sites, %d faults" % (operations, len(kinds), len(faults)))
    return bool(faults)


sys.exit(main(sys.argv[1]))
