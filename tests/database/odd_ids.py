"""Items whose ids and titles are odd in every way that a file or a server could stumble over.

odd_ids.py make FOLDER            ratings of them, and a catalogue: all.* everything, lines.*
                                  without ends of lines, text.* UTF-8 alone; titles.csv with
                                  a title in ISO-8859-1
odd_ids.py npy|csv|libmf|sqlite|hex SET OUTPUT
                                  what was exported of a set is what went in, byte for byte
"""
import csv
import json
import random
import sqlite3
import sys
from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789éß"


def items():
    """Pairs of id and title, as bytes; the title None where the catalogue has none."""
    draw = random.Random(3)
    long = "".join(draw.choice(LETTERS)
                   for _ in range(58000)).encode()[:60000].decode("utf-8", "ignore")
    texts = [
        "a,b", '"', '""', 'say "hi"', "it's", "tab\there", "back\\slash", "\\N", "\\.", "new\nline",
        "cr\rlf\r\n", " lead", "trail ", "Ærø", "bom\ufeffed", "NULL", "null", "-1", "1e5", "#x",
        "=1+1", "a;b", "a|b", "\x01\x7f", "😀", "e\u0301", "{}", "$1", "%s", long
    ]
    assert len(long.encode()) > 59990
    ids = [text.encode() for text in texts] + [b"\xff\xfe\x80", b"caf\xe9"]
    titles = [
        b'A "quoted", one', b"", b"back\\slash\tand tab", "Ærø 😀".encode(), b"\\N", b"  blanks  ",
        b"x" * 9000
    ]
    return [(each, (titles + [None])[i % (len(titles) + 1)]) for i, each in enumerate(ids)]


def is_text(each):
    try:
        each.decode()
    except UnicodeDecodeError:
        return False
    return True


SETS = {
    "all": lambda each: True,
    "lines": lambda each: b"\n" not in each and b"\r" not in each,
    "text": is_text,
}


def chosen(name):
    return [pair for pair in items() if SETS[name](pair[0])]


def quoted(each):
    return b'"' + each.replace(b'"', b'""') + b'"'


def make(folder):
    for name in SETS:
        with open(folder / f"{name}.jsonl", "w", encoding="utf-8") as texts, \
                open(folder / f"{name}.csv", "wb") as others, \
                open(folder / f"{name}.titles", "wb") as titles:
            others.write(b"user,item,rating\n")
            titles.write(b"item,title\n")
            for i, (item, title) in enumerate(chosen(name)):
                if title is not None:
                    titles.write(quoted(item) + b"," + quoted(title) + b"\n")
                for user in range(8):
                    rating = 1 + (7 * i + 3 * user) % 5
                    if is_text(item):
                        texts.write(
                            json.dumps({"user": str(user), "item": item.decode(), "rating": rating})
                            + "\n")
                    else:
                        others.write(b"%d,%s,%d\n" % (user, item, rating))
            others.write(b"0,plain,3\n")
    (folder / "titles.csv").write_bytes(b"item,title\nNULL,caf\xe9\n")


def read_csv(output):
    with open(output / "items.csv", newline="", encoding="utf-8", errors="surrogateescape") as file:
        rows = list(csv.reader(file))[1:]
    return [tuple(field.encode("utf-8", "surrogateescape") for field in row[:2]) for row in rows]


def read_sqlite(output):
    database = sqlite3.connect(output)
    rows = database.execute("SELECT id, title FROM items ORDER BY number").fetchall()
    return [tuple(x.encode() if isinstance(x, str) else x for x in row) for row in rows]


def read_hex(output):
    rows = [line.split(b"|") for line in output.read_bytes().splitlines()]
    return [(bytes.fromhex(a.decode()), None if b == b"-" else bytes.fromhex(b.decode()))
            for a, b in rows]


def check(form, name, output):
    wanted = dict(chosen(name)) | {b"plain": None}
    if form in ("npy", "libmf"):
        path = output / "item_ids.txt" if form == "npy" else Path(f"{output}.items.txt")
        got = path.read_bytes().split(b"\n")
        assert got.pop() == b"" and len(got) == len(wanted) and set(got) == set(wanted)
        return
    got = {"csv": read_csv, "sqlite": read_sqlite, "hex": read_hex}[form](output)
    if form == "csv":  # which has no other way to say that there is none
        wanted = {item: title or b"" for item, title in wanted.items()}
    assert len(got) == len(wanted), (len(got), len(wanted))
    for item, title in got:
        assert item in wanted and wanted[item] == title, (item[:80], title, wanted.get(item))


if sys.argv[1] == "make":
    make(Path(sys.argv[2]))
else:
    check(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
