# SPDX-License-Identifier: Apache-2.0
"""Awkward text for tokenizers: what broke one of them somewhere, and random mixtures of it.

No text holds a zero byte or is empty: the peer's program ends texts with a zero byte.
"""
import random

HAND_MADE = [
    "Hello, world!", " leading blank", "trailing blank ", "  two blanks", "a  b   c    d", "\t",
    "\n", "\n\n", "\r\n", "\n\n\n  \n", " \n", "\t\tdef f(x):\n\t\treturn x\n",
    "for (int i = 0; i < 10; i++) {\r\n    x[i] += 1;\r\n}\r\n", "1", "12", "123", "1234",
    "12345", "123456789", "3.14159", "1,000,000", "-42", "0x7fff",
    "\u0663\u0664\u0665 \u096a\u096b \u00b2\u00b3 \u00bd \u2163",
    "I'm you're he'll we've it'd don't 'tis O'Brien'S WE'LL", "caf\u00e9 na\u00efve \u00fcber",
    "cafe\u0301 nai\u0308ve u\u0308ber", "\u00df\u1e9e\u0130\u0131\u01c5",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u042a\u044b",
    "\u0393\u03b5\u03b9\u03ac \u03c3\u03bf\u03c5 \u03ba\u03cc\u03c3\u03bc\u03b5",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u0bb5\u0ba3\u0b95\u0bcd\u0b95\u0bae\u0bcd",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01",
    "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c\u30ab\u30bf\u30ab\u30ca",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4", "\u1112\u1161\u11ab",
    "\u3000\u5168\u89d2\u3000\u7a7a\u767d", "\U0001F600",
    "\U0001F468\u200d\U0001F469\u200d\U0001F467\u200d\U0001F466 "
    "\U0001F3F3\ufe0f\u200d\U0001F308",
    "\U0001F1E9\U0001F1EA\U0001F44D\U0001F3FD!",
    "\u00a0no\u202fbreak\u2009thin\u200bzero\ufeffbom",
    "\u2028line\u2029paragraph\u0085next\x0bvertical\x0cform", "\x01\x02\x1b[31mred\x1b[0m\x7f",
    "\U00020000\U0002A6DF \U0001D54F\U0001D7D8", "\u0300\u0301\u0302 a\u0300\u0301\u0302b",
    "http://example.com/a?b=c&d=%20#e", "me@example.org", "C:\\Users\\x\\file.txt",
    "$100.00 + 5% = ?", "...!?!?---___***", "((([[[{{{}}}]]])))",
    "\u201cquoted\u201d \u2018single\u2019 \u2014 dash\u2026",
    "#hashtag @mention $cash ^up `code` ~tilde |pipe|", "a/b/c//d",
    "snake_case camelCase PascalCase ALLCAPS", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", " " * 40,
    "\n" * 20, "=" * 60, "ab" * 50, "\u4e00" * 30, "<|im_start|>user\nHi<|im_end|>",
    "<s>text</s>", "<think>hm</think>", "<|endoftext|>", "<unk><pad><bos><eos><start_of_turn>",
    "\u2581already\u2581there", "<0x0A><0xFF>", "\u0120G \u010aC", "x\ty\nz\r\n w",
    "end with newline\n", "'", "''", "' s", "'s", "\u00ad\u00adsoft", "e\u0323\u0302",
]
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "     ", " \t\n\r",
    "'\"-.,;:!?()[]{}", "\u00e0\u00e9\u00ee\u00f6\u00fc\u00df", "\u0430\u0431\u0432\u0433\u0434",
    "\u4f60\u597d\u4e16\u754c\u3042\u30a2", "\u0300\u0301\u0928\u094d",
    "\U0001F600\U0001F680\u200d\ufe0f", "\u00a0\u3000\u2028\u200b",
]


def random_texts(count, seed=7):
    rng = random.Random(seed)
    texts = []
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(1, 12)):
            alphabet = rng.choice(ALPHABETS)
            parts.append("".join(rng.choice(alphabet) for _ in range(rng.randint(1, 6))))
        texts.append("".join(parts))
    return texts


def all_texts(random_count=200):
    return HAND_MADE + random_texts(random_count)
