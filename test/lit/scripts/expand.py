"""Prints a test with its templates expanded.

A chunk, between `// -----`, with a line `// EACH <number of operands> <type rule>...` is repeated for each operation with
such a type rule and as many operands; OP stands for the operation. With --printed, the text is as calque-opt prints it.
"""
import re
import sys

from records import operations


def expand(text):
    chunks = []
    for chunk in re.split(r"^// -----\n", text, flags=re.M):
        each = re.search(r"^// EACH (\d) (.*)\n", chunk, flags=re.M)
        if not each:
            chunks.append(chunk)
            continue
        names = [name for name, record in operations().items() if record["rule"] in each[2].split() and len(record["operands"]) == int(each[1])]
        if not names:
            sys.exit("no operation is meant by: " + each[0])
        chunks += [re.sub(r"\bOP", name, chunk.replace(each[0], "")) for name in names]
    return chunks


if __name__ == "__main__":
    chunks = expand(open(sys.argv[-1]).read())
    if sys.argv[1] == "--printed":
        lines = [line for line in "".join(chunks).splitlines() if line.strip() and not line.lstrip().startswith("//")]
        print("module {", *("  " + line for line in lines), "}", "", sep="\n")
    else:
        print("// -----\n".join(chunks), end="")
