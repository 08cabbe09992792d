"""The operations of the dialect, read from the records in ir/."""
import functools
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIT = ROOT / "test" / "lit"


@functools.cache
def operations():
    """The records of all operations, by their mnemonics."""
    include = subprocess.check_output(["llvm-config", "--includedir"], text=True).strip()
    dump = subprocess.check_output(["llvm-tblgen", "--dump-json", "-I", ROOT, "-I", include, ROOT / "ir" / "Calque.td"])
    records = json.loads(dump)

    def defs(record, field, kind):
        found = []
        for argument, name in record[field]["args"]:
            if kind in records[argument["def"]]["!superclasses"]:
                found.append((name, records[argument["def"]]))
        return found

    for name in records["!instanceof"]["Calque_Op"]:
        record = records[name]
        record["operands"] = defs(record, "arguments", "TypeConstraint")
        record["attributes"] = defs(record, "arguments", "Attr")
        record["outcomes"] = defs(record, "results", "TypeConstraint")
    return {records[name]["opName"]: records[name] for name in records["!instanceof"]["Calque_Op"]}
