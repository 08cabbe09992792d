"""The programs of docs/python.md, as one program."""
import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


class Page(unittest.TestCase):
    def test_programs(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("NumPy is missing")
        text = PAGE.read_text()
        programs = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
        self.assertGreater(len(programs), 5)
        names = {}
        for program in programs:
            # Blank lines, so that an error has the line of the page.
            before = text[:text.index(program)].count("\n")
            exec(compile("\n" * before + program, str(PAGE), "exec"), names)


if __name__ == "__main__":
    unittest.main()
