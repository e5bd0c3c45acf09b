"""Writes seeds for fuzz_verbs.c into a folder: every line of verbs_lines.h plain, with each of its
options, and with edits of each of its files.

    make_verb_seeds.py FOLDER

What is kept of them in tests/fuzz/corpus/verbs is what reaches something new (FUZZ_KEEP=1, see
scripts/run_fuzzers.sh).
"""

import os
import random
import re
import sys

CHOICES = 96


def lines():
    with open(os.path.join(os.path.dirname(__file__), "verbs_lines.h"), encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    macros = dict(re.findall(r"#define (\w+)[ \t]+(.+)", text))
    body = text[text.index("verb_lines[] = {") + 16:]
    body = body[:body.index("\n};")]

    def joined(part):
        return "".join(word[1:-1] if word[0] == '"' else joined(macros[word])
                       for word in re.findall(r'"[^"]*"|\w+', part))

    parts = re.findall(r'(?:"[^"]*"|[^",])+', body)
    return [joined(part) for part in parts if part.strip()]


def places(line):
    """Of each place where an input decides: how many parts to choose among, 0 for brackets."""
    found, depth, opened = [], [], 0
    for letter in line:
        if letter in "{[":
            found.append(1 if letter == "{" else 0)
            depth.append(len(found) - 1)
        elif letter == "|":
            found[depth[-1]] += 1
        elif letter in "}]":
            depth.pop()
    return found


def main():
    folder, chance, n = sys.argv[1], random.Random(1), 0
    os.makedirs(folder, exist_ok=True)

    def write(name, number, choices, edits=b""):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(bytes([number]) + bytes(choices) + edits)

    for number, line in enumerate(lines()):
        decided = places(line)
        plain = [0] * CHOICES
        write(f"{number:02d}_plain", number, plain)
        for place, parts in enumerate(decided):
            for part in range(1, parts) if parts else [255]:
                choices = list(plain)
                choices[place] = part
                write(f"{number:02d}_{place:02d}_{part}", number, choices)
        for which in range(8):
            choices = [
                chance.randrange(parts) if parts else chance.choice([0, 0, 0, 255])
                for parts in decided
            ]
            choices += [0] * (CHOICES - len(choices))
            edits = b""
            for file in range(1 + which % 2):
                body = b"".join(
                    bytes([chance.randrange(8), *(chance.randrange(256) for _ in range(3))])
                    for _ in range(1 + which % 3))
                edits += bytes([file, 0 if which < 6 else chance.randrange(2, 40), len(body), 0])
                edits += body
            write(f"{number:02d}_edited_{which}", number, choices, edits)
            n += 1


main()
