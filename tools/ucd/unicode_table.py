#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes lib/token/unicode_table.c: the general category of every code point, in two stages.

    pip install unicodedata2==15.1.0
    python3 tools/ucd/unicode_table.py > lib/token/unicode_table.c

The version of Unicode is part of what a tokenizer means (a letter that is not assigned yet is cut like
a symbol), so it is fixed here and not taken from whatever Python is at hand.
"""
import sys

import unicodedata2

VERSION = "15.1.0"
BLOCK = 128  # code points of one block; 64 would need more than 256 blocks, 256 makes the table larger
# In the order of the bits in lib/token/unicode.h.
CATEGORIES = ("Cn Cc Cf Co Cs Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So "
              "Zs Zl Zp").split()
# Property White_Space (PropList.txt), which Python does not have under this name.
WHITE_SPACE = {*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
               0x202F, 0x205F, 0x3000}
WHITE_SPACE_FLAG = 0x20  # beside the five bits of the category

HEAD = """// SPDX-License-Identifier: Apache-2.0
//
// Made by tools/ucd/unicode_table.py, do not edit. Data: the Unicode Character Database, version {version},
// (c) 1991-2023 Unicode, Inc., used under the Unicode License v3 (https://www.unicode.org/license.txt).
#include "token/unicode_table.h"

// Block of code points code / {block}.
const uint8_t unicode_table_blocks[{stage1}] = {{
{blocks}
}};

// Category, and {flag:#x} for white space.
const uint8_t unicode_table_values[{stage2}] = {{
{values}
}};
"""


def rows(numbers):
    text = ""
    line = "    "
    for number in numbers:
        item = f"{number},"
        if len(line) + len(item) > 100:
            text += line + "\n"
            line = "    "
        line += item
    return text + line


def main():
    if unicodedata2.unidata_version != VERSION:
        sys.exit(f"unicode_table.py: needs unicodedata2 of Unicode {VERSION}, "
                 f"this is {unicodedata2.unidata_version}")
    number = {name: i for i, name in enumerate(CATEGORIES)}
    values = bytes(number[unicodedata2.category(chr(code))] |
                   (WHITE_SPACE_FLAG if code in WHITE_SPACE else 0) for code in range(0x110000))
    index, distinct, blocks = {}, [], []
    for start in range(0, len(values), BLOCK):
        block = values[start:start + BLOCK]
        if block not in index:
            index[block] = len(index)
            distinct.extend(block)
        blocks.append(index[block])
    assert len(index) <= 256
    sys.stdout.write(HEAD.format(version=VERSION, block=BLOCK, stage1=len(blocks),
                                 stage2=len(distinct), blocks=rows(blocks), values=rows(distinct),
                                 flag=WHITE_SPACE_FLAG))


if __name__ == "__main__":
    main()
