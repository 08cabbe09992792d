"""Checks that frontend/saving/NamesOfC.cpp lists what the headers of this machine have names for: declares variables, functions
and parameters of each name that they mention and that is not listed, behind all of them, in C and in C++.

    names-of-c.py COMPILER NAMESOFC.CPP [--write]

With --write what is missing comes into the list. Nothing leaves it, as other machines' headers have other names."""
import pathlib
import re
import subprocess
import sys
import textwrap

ISO = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
    stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype""".split()
POSIX = """aio arpa/inet cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo libgen libintl monetary mqueue
    net/if netdb netinet/in netinet/tcp nl_types poll pthread pwd regex sched search semaphore spawn strings sys/ipc
    sys/mman sys/msg sys/resource sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/time sys/times sys/types
    sys/uio sys/un sys/utsname sys/wait syslog tar termios ulimit unistd utime utmpx wordexp""".split()
NOT_IN_CXX = ["stdatomic", "stdnoreturn", "tgmath", "threads"]

# What the header has of names: its library, functions and their parameters.
LIBRARY = "static const int {name} = 1;"
FUNCTION = "static inline int {name}(int *model_, const float *x) {{ return model_ != 0 && x != 0; }}"
PARAMETER = (
    "static inline int f_{number}_(int *model_, const uint8_t *{name}, int64_t size_, int32_t *x_) "
    "{{ const void *const a_[] = {{{name}}}; return a_[0] != NULL && size_ && x_ && model_; }}"
)


def compiler(command, language, text, *options):
    return subprocess.run([*command, "-x", language, *options, "-"], input=text, text=True, capture_output=True)


def clashes(command, language, includes, names, form):
    """The names of the list that can't be declared in this form behind the headers."""
    is_clang = b"clang" in subprocess.run([*command, "--version"], capture_output=True).stdout
    unlimited = "-ferror-limit=0" if is_clang else "-fmax-errors=0"
    found = set()
    while True:
        left = [name for name in names if name not in found]
        lines = (form.format(name=name, number=i) for i, name in enumerate(left))
        text = includes + '#line 1 "names"\n' + "\n".join(lines) + "\n"
        done = compiler(command, language, text, "-fsyntax-only", "-w", unlimited)
        lines = {int(line) for line in re.findall(r"^names:(\d+):\d+: error", done.stderr, re.M)}
        new = {left[line - 1] for line in lines if line <= len(left)}
        if not new:
            if done.returncode:
                sys.exit(f"the headers themselves do not compile:\n{done.stderr[:2000]}")
            return found
        found |= new


def main():
    *command, source = [each for each in sys.argv[1:] if each != "--write"]
    source = pathlib.Path(source)
    text = source.read_text()
    lists = {kind: re.search(rf'{kind}\[\] = R"\((.*?)\)"', text, re.S) for kind in ("kEverywhere", "kAtFileScope")}
    everywhere, at_file_scope = (set(lists[kind][1].split()) for kind in lists)
    is_wide = re.compile(re.search(r"endings: (\S+)", text)[1])  # what NamesOfC.cpp says by a rule
    missing_everywhere, missing_at_file_scope = set(), set()
    for language in ("c", "c++"):
        includes = "#define _GNU_SOURCE 1\n" if language == "c" else "#include <bits/stdc++.h>\n"
        headers = ISO + POSIX if language == "c" else [each for each in ISO + POSIX if each not in NOT_IN_CXX]
        includes += "".join(f"#include <{each}.h>\n" for each in headers)
        code = re.sub(r'"(\\.|[^"\\])*"', "", compiler(command, language, includes, "-E", "-P").stdout)
        macros = compiler(command, language, includes, "-E", "-dM").stdout
        names = set(re.findall(r"\b[A-Za-z_]\w*", code)) | set(re.findall(r"^#define (\w+)", macros, re.M))
        if len(names) < 1000:
            sys.exit(f"{command[0]} shows only {len(names)} names of the headers of {language}")
        names = sorted(each for each in names if not re.match("__|_[A-Z]", each))
        lower = [each for each in names if re.search("[a-z]", each) and each not in everywhere]
        missing_everywhere |= clashes(command, language, includes, lower, PARAMETER)
        for form in (LIBRARY, FUNCTION):
            known = everywhere | at_file_scope
            wanted = [each for each in names if each not in known and is_wide.sub("", each) not in known]
            missing_at_file_scope |= clashes(command, language, includes, wanted, form)
    missing_at_file_scope -= missing_everywhere
    missing_at_file_scope = {each for each in missing_at_file_scope if is_wide.sub("", each) not in missing_at_file_scope - {each}}
    if "--write" in sys.argv:
        at_file_scope -= missing_everywhere
        for kind, names in (("kEverywhere", everywhere | missing_everywhere), ("kAtFileScope", at_file_scope | missing_at_file_scope)):
            lines = textwrap.fill(" ".join(sorted(names)), 120, break_long_words=False, break_on_hyphens=False)
            text = re.sub(rf'({kind}\[\] = R"\().*?(\)")', lambda m: f"{m[1]}\n{lines}\n{m[2]}", text, flags=re.S)
        source.write_text(text)
    elif missing_everywhere or missing_at_file_scope:
        sys.exit(f"{source} has not, for parameters: {sorted(missing_everywhere)}\nfor others: {sorted(missing_at_file_scope)}\n"
                 f"add them by {sys.argv[0]} {' '.join(command)} {source} --write")
    print(f"{len(everywhere)} and {len(at_file_scope)} names")


main()
