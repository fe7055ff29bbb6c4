#!/usr/bin/env python3
"""abi.py ROOT [--write]: the binary interface is the one that was written down.

Sizes and offsets of every public struct and the values of every public enumerator are compared with tests/golden/abi.txt,
which --write replaces. They are those of 64-bit machines. A change of what was released breaks programs that were compiled
before, unless a member was made of `reserved` words or an enumerator was added at the end of its enumeration."""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
golden = root / "tests/golden/abi.txt"


def members(body):
    """Names of the members of a struct: the last identifier of each declarator."""
    for declaration in body.split(";")[:-1]:
        pointer = re.search(r"\(\*(\w+)\)\(", declaration)  # to a function
        if pointer:
            yield pointer[1]
            continue
        for declarator in re.sub(r"\[[^]]*\]", "", declaration).split(","):
            yield re.findall(r"\w+", declarator)[-1]


def lines_of(text):
    """Statements that print each struct and enumeration of a header."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for kind, body, name in re.findall(r"^(?:typedef )?(struct|enum)[^{};]*\{(.*?)\}\s*(\w*);", text, re.S | re.M):
        if kind == "struct":
            yield f'printf("{name} %zu\\n", sizeof({name}));'
            for member in members(body):
                yield f'printf("    {member} %zu\\n", offsetof({name}, {member}));'
        else:
            yield f'printf("{name or "enum"}\\n");'
            for enumerator in re.findall(r"\b(TWIN_\w+)\s*(?=[,=]|$)", body.strip()):
                yield f'printf("    {enumerator} %lld\\n", (long long){enumerator});'


def measured():
    """What a program prints that sees the headers."""
    headers = sorted((root / "include/twinsift").glob("*.h"))
    body = "\n".join(line for header in headers for line in lines_of(header.read_text()))
    program = f"#include <stdio.h>\n#include <twinsift/twinsift.h>\nint main(void)\n{{\n{body}\n}}\n"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "abi.c")
        source.write_text(program)
        subprocess.run([os.environ.get("CC", "cc"), f"-I{root}/include", "-o", f"{folder}/abi", source], check=True)
        return subprocess.run([f"{folder}/abi"], check=True, capture_output=True, text=True).stdout


found = measured()
if "--write" in sys.argv:
    golden.write_text(found)
    sys.exit(0)
differences = list(difflib.unified_diff(golden.read_text().splitlines(), found.splitlines(), "abi.txt", "now", "", "", 2))
print("\n".join(differences))
if differences:
    print("The binary interface changed. If that is meant: python3 tests/abi.py . --write, and say so in CHANGELOG.md.")
sys.exit(1 if differences else 0)
