#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes NAME.ptx of each NAME.cu given (all of this folder, if none is): nvcc's PTX with line information, without comments,
folders of files and what inlining adds to lines, and with arrays of mbarriers as arrays of 64-bit words, which give them names.

Lines of [[fault]] entries with `source` move with the source."""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
OPTIONS = ["-ptx", "-arch=sm_100a", "-std=c++20", "-lineinfo"]


def tidied(text: str, source: str) -> str:
    text = text[text.index(".version"):]
    text = re.sub(r"[ \t]*//[^\n]*(?=\n)", "", text)
    text = re.sub(r'(\.file\s+\d+ ")[^"]*/', r"\1", text)
    text = re.sub(r"\n\t?\.section\s+\.debug_str.*?\n\t?\}\n", "\n", text, flags=re.S)
    text = re.sub(r"(\.loc[^\n]*?), function_name[^\n]*", r"\1", text)
    text = re.sub(r"\.shared \.align 8 \.b8 (\w+)\[(\d+)\]",
                  lambda m: f".shared .align 8 .b64 {m[1]}[{int(m[2]) // 8}]", text)
    text = re.sub(r"\n\s*\n+", "\n", text)
    head = f"// SPDX-License-Identifier: Apache-2.0\n// Made of {source} by compile.py: nvcc {' '.join(OPTIONS)}.\n"
    return head + text


def main() -> None:
    sources = [pathlib.Path(name) for name in sys.argv[1:]] or sorted(HERE.glob("*.cu"))
    for source in sources:
        with tempfile.NamedTemporaryFile(suffix=".ptx") as out:
            subprocess.run(["nvcc", *OPTIONS, str(source), "-o", out.name], check=True)
            text = pathlib.Path(out.name).read_text()
        (HERE / f"{source.stem}.ptx").write_text(tidied(text, source.name))


if __name__ == "__main__":
    main()
