# SPDX-License-Identifier: Apache-2.0
"""Export the freely licensed real text of the corpus as JSON lines.

    python3 real_text.py > real.jsonl

Needs Debian's diatheke and sword-text-web (World English Bible, public domain)
and wordnet-base (WordNet 3.0 licence). The Bible is exported book by book: one
call over the whole range repeats two psalm headings in thousands of verses.
"""
import json
import random
import re
import subprocess
import sys

BOOKS = ("Genesis", "Exodus", "Joshua", "Judges", "Ruth", "1 Samuel", "2 Samuel", "1 Kings", "2 Kings", "Nehemiah",
         "Esther", "Proverbs", "Ecclesiastes", "Daniel", "Jonah", "Matthew", "Mark", "Luke", "John", "Acts", "James",
         "Tobit", "Judith", "1 Maccabees")
PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": "-", "–": "-", "\u00a0": " "})
WORDNET = "/usr/share/wordnet/data."


def bible(chars=1400):
    """Runs of verses of about the given size, never across a chapter."""
    for book in BOOKS:
        raw = subprocess.run(["diatheke", "-b", "engWEB2015eb", "-f", "plain", "-k", book],
                             capture_output=True, text=True, check=True).stdout
        chapter, text = None, ""
        for line in raw.splitlines():
            m = re.match(r"^[\w ]+? (\d+):(\d+): (.*)$", line)
            if not m:
                if not line.startswith("(engWEB") and text:
                    text += " " + line.strip().translate(PLAIN)
                continue
            if m[1] != chapter or len(text) > chars:
                if len(text) > 200:
                    yield re.sub(r"\s+", " ", text).strip()
                chapter, text = m[1], ""
            text += " " + m[3].translate(PLAIN)
        if len(text) > 200:
            yield re.sub(r"\s+", " ", text).strip()


def examples():
    """WordNet's example sentences, several to a document, under their word."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in open(WORDNET + part, encoding="latin-1"):
            if line[0] == " " or "|" not in line:
                continue
            head, gloss = line.split("|", 1)
            word = head.split()[4].split("(")[0].replace("_", " ")
            quoted = [q.strip() for q in re.findall(r'"([^"]+)"', gloss)]
            quoted = [q for q in quoted if len(q.split()) >= 4 and q.isascii()]
            if quoted:
                yield word, [q[0].upper() + q[1:] + ("" if q[-1] in ".!?" else ".") for q in quoted]


def main():
    for text in bible():
        sys.stdout.write(json.dumps({"kind": "bible", "text": text, "ask": None}) + "\n")
    found = list(examples())
    random.Random(1).shuffle(found)
    for i in range(0, len(found), 4):
        text = "\n".join(f"{w}: {' '.join(q[:2])}" for w, q in found[i:i + 4])
        sys.stdout.write(json.dumps({"kind": "wordnet", "text": text, "ask": None}) + "\n")


if __name__ == "__main__":
    main()
