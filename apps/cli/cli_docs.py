#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/commands.md from the tables of the command itself:

    apps/cli/cli_docs.py LOCUM > docs/commands.md
"""
import json
import subprocess
import sys

HEAD = """# Commands

Made by `apps/cli/cli_docs.py` from the tables in `apps/cli/cli_table.c`; `locum help COMMAND` prints the
same. `--flag value` and `--flag=value` are the same, `-n 5` and `-n5` too; `--` ends the flags. A flag
that is given twice is an error.
"""


def escaped(text):
    return text.replace("|", "\\|")


def flag_row(flag):
    names = f"`-{flag['letter']}`, " if flag["letter"] else ""
    value = f" {flag['value']}" if flag["value"] else ""
    help_text = flag["help"]
    if flag["kind"] == "choice":
        help_text += ": " + ", ".join(f"`{choice}`" for choice in flag["choices"])
    values = f"{flag['least']} to {flag['most']}" if "least" in flag else ""
    return f"| {names}`--{flag['name']}{value}` | {escaped(help_text)} | {values} |"


def section(command, flags):
    operands = " " + command["operands"] if command["operands"] else ""
    yield f"\n## `locum {command['name']}{operands}`: {command['summary']}\n"
    for note in command["notes"]:
        yield note + "\n"
    yield "| flag | | possible |\n|---|---|---|"
    for flag in flags:
        if command["name"] in flag["commands"]:
            yield flag_row(flag)
    yield "\n```"
    for line, what in zip(command["examples"][::2], command["examples"][1::2]):
        yield f"{line}\n    {what}"
    yield "```"


def main():
    table = json.loads(subprocess.run([sys.argv[1], "help", "--json"], check=True,
                                      stdout=subprocess.PIPE).stdout)
    print(HEAD, end="")
    for command in table["commands"]:
        print("\n".join(section(command, table["flags"])))
    print("\nExit status: 0 done, 2 wrong usage, 3 a file, 4 memory, 5 while running, "
          "130 interrupted.")


if __name__ == "__main__":
    main()
