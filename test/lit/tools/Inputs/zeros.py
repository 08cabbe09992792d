"""Writes float32[3,2] of zeros as NumPy does: zeros.py FILE"""
import sys

header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }".ljust(117) + b"\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24))
