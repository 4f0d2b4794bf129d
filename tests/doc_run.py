#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Runs the commands of a page of documentation and compares what they print.

A block that begins with ```console has commands behind "$ " (lines that go on
with them behind "> "), each followed by its output. A line "..." stands for any
lines. Times of day and what depends on the machine's speed are made alike.

    doc_run.py --check PAGE ..    exit status 1 and a difference if they differ
    doc_run.py --write PAGE ..    the output becomes what was printed, except
                                  that what "..." stands for stays so
"""
import difflib
import os
import re
import subprocess
import sys

ALIKE = [
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}"),
     "2026-01-01 12:00:00.000"),
    (re.compile(r"\b\d+\.\d+ ms(?! sim)"), "1.0 ms"),
    (re.compile(r"/tmp/minism-lab[-.\w/]*"), "/tmp/minism-lab"),
]


def alike(text):
    for pattern, by in ALIKE:
        text = pattern.sub(by, text)
    return text


def run(command):
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=250, check=False)
    return alike(done.stdout.decode(errors="replace")).splitlines()


def matches(wanted, found):
    pattern = "".join("(?:.*\n)*" if line == "..." else
                      re.escape(line.rstrip()) + "[ \t]*\n"
                      for line in wanted)
    return re.fullmatch(pattern, "".join(line + "\n" for line in found))


def blocks(lines):
    """Yields (is_command, lines): the page in pieces, in order."""
    piece, inside, command = [], False, False
    for line in lines:
        starts = inside and line.startswith("$ ")
        goes_on = inside and command and line.startswith("> ")
        ends = inside and line == "```"
        if starts or ends or (command and not goes_on):
            yield command, piece
            if command and starts:
                yield False, []
            piece, command = [], starts
        piece.append(line)
        if ends:
            inside = False
        elif line == "```console":
            inside = True
            yield False, piece
            piece = []
    yield command, piece


def do_page(page, write):
    with open(page, encoding="utf-8") as file:
        pieces = list(blocks(file.read().splitlines()))
    out, bad, n = [], 0, 0
    for i, (is_command, piece) in enumerate(pieces):
        if i and pieces[i - 1][0]:
            continue
        out += piece
        if not is_command:
            continue
        n += 1
        wanted = pieces[i + 1][1]
        end = wanted.index("```") if "```" in wanted else len(wanted)
        rest, wanted = wanted[end:], wanted[:end]
        found = run("\n".join(line[2:] for line in piece))
        if matches([alike(line) for line in wanted], found):
            out += wanted + rest
            continue
        bad += 1
        out += found + rest
        if not write:
            print(f"{page}: {piece[0]}")
            print("\n".join(difflib.unified_diff(
                wanted, found, "page", "run", lineterm="")))
    if write and bad:
        with open(page, "w", encoding="utf-8") as file:
            file.write("\n".join(out) + "\n")
    if not n:
        print(f"{page}: no command")
    return write or (n and not bad)


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("--check", "--write"):
        sys.exit(__doc__)
    write = sys.argv[1] == "--write"
    sys.exit(0 if all([do_page(os.path.abspath(page), write)
                       for page in sys.argv[2:]]) else 1)


main()
