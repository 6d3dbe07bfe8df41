#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/chat-formats.md are those of the library: check_table.py [--write] STREAM_PARSE DOCUMENT."""
import subprocess
import sys

BEGIN, END = "<!-- tables: tests/chat/check_table.py --write -->\n", "<!-- end of tables -->\n"


def main():
    write = "--write" in sys.argv
    program, path = [argument for argument in sys.argv[1:] if argument != "--write"]
    tables = subprocess.run([program, "--table"], stdout=subprocess.PIPE, check=True).stdout.decode()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    wanted = before + BEGIN + tables + END + rest.split(END)[1]
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
    elif wanted != text:
        sys.exit(f"{path}: its tables are not those of lib/chat/chat_stream_format.c; run this with --write")


if __name__ == "__main__":
    main()
