"""Made-up tables, read by dpmf, by Python's csv module, by SQLite's .import and by pandas: whatever
they say about the same bytes must be the same ratings, or the difference must have a name here.

    readers.py DPMF [TABLES [SEED]]

A table that differs is printed with its seed. The last line is "N passed, N failed".
"""

import csv
import io
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

import pandas

# What a rating looks like: other readers leave text as it is, and Python's float() takes more.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
IDS = [
    "a", "b", "7", "007", "7.0", "a b", "Émile", "日本", "x,y", "x;y", 'say "so"', '"', "a\tb",
    "two\nlines", "cr\rhere", "end\r\nhere", " led", "trailed ", "NA", "null", "None", "-", "'",
    "#x", "\\", "a\\", "=1+1", "1e5", "​", "\xa0"
]
RATINGS = [
    "4", "3.5", "+4", "04", "4.", ".5", "4e0", "4E+1", "-2", "-0", "0", "1e-3", "0.1", "1e22",
    "3.14159265358979312", "123456789012345678", "9007199254740993", "0.30000000000000004",
    "1e-320", "4.9406564584124654e-324", "1.7976931348623157e308"
]
BAD_RATINGS = [
    "", "x", "nan", "inf", "-inf", "1e400", "0x10", "1_0", "4,5", "4..", "e5", "--1", "NA"
]


# ---- tables --------------------------------------------------------------------------------------


class Table:
    """One table as bytes, and what is odd about it: names of what readers may differ in."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.odd = set()
        tables = self.random
        self.end = tables.choice(["\n", "\n", "\r\n"])
        self.quoting = tables.choice(["least", "least", "all", "some"])
        rows = [["user", "item", "rating"]]
        rows += [self.row() for _ in range(tables.randint(1, 12))]
        text = "".join(self.line(row, i == 0) for i, row in enumerate(rows))
        if tables.random() < 0.3:
            text = text[:-len(self.end)]
        if tables.random() < 0.2:
            text = "\ufeff" + text
        self.bytes = text.encode()

    def row(self):
        tables = self.random
        row = [tables.choice(IDS), tables.choice(IDS), tables.choice(RATINGS)]
        if tables.random() < 0.02:
            row[2] = tables.choice(BAD_RATINGS)
        if tables.random() < 0.01:
            row[tables.randrange(2)] = ""
        if tables.random() < 0.01:
            row[2] = tables.choice([" ", "\t", ""]) + row[2] + tables.choice([" ", ""])
        if tables.random() < 0.01:
            row = row[:tables.randint(1, 2)] if tables.random() < 0.5 else row + ["extra"]
        return row

    def field(self, text, plain):
        tables = self.random
        needed = any(c in text for c in ',"\r\n')
        if not plain and tables.random() < 0.003:
            self.odd.add("stray quote")
            return text + '"x'
        if not plain and tables.random() < 0.003:
            self.odd.add("text behind a quote")
            return '"' + text.replace('"', '""') + '"x'
        quoted = needed or (not plain and (self.quoting == "all" or
                                           (self.quoting == "some" and tables.random() < 0.4)))
        return '"' + text.replace('"', '""') + '"' if quoted else text

    def line(self, row, is_header):
        tables = self.random
        text = ",".join(self.field(field, is_header) for field in row)
        if not is_header and tables.random() < 0.01:
            self.odd.add("blank line")
            text += self.end
        return text + self.end


# ---- readers -------------------------------------------------------------------------------------
# Each returns the rows of a table under its header, as lists of texts, or None where it refuses.


def by_python(table, path):
    try:
        rows = list(csv.reader(io.StringIO(table.decode("utf-8-sig"), newline=""), strict=True))
    except csv.Error:
        return None
    return rows[1:]


def by_sqlite(table, path):
    """A row with too few fields is filled with NULL, which is None here."""
    query = (".bail on", f'.import --csv "{path}" t', "SELECT " +
             ", ".join(f"CASE WHEN {name} IS NULL THEN '-' ELSE hex({name}) END"
                       for name in ("user", "item", "rating")) + " FROM t;")
    done = subprocess.run(["sqlite3", ":memory:"], input="\n".join(query), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0 or "extras ignored" in done.stderr:
        return None
    return [[None if field == "-" else bytes.fromhex(field).decode() for field in line.split("|")]
            for line in done.stdout.splitlines()]


def by_pandas(table, path):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it warns where it leaves fields out
            frame = pandas.read_csv(io.BytesIO(table), dtype=str, keep_default_na=False,
                                    index_col=False, encoding="utf-8-sig", on_bad_lines="error")
    except (pandas.errors.ParserError, pandas.errors.ParserWarning, ValueError):
        return None
    return [[str(field) for field in row] for row in frame.itertuples(index=False)]


def by_dpmf(dpmf, path, folder):
    """@return the ratings of pairs, as text, or None where it refuses"""
    store, out = os.path.join(folder, "t.dpr"), os.path.join(folder, "t.out")
    done = subprocess.run([dpmf, "import", "-q", path, "--format", "csv", "-o", store],
                          stderr=subprocess.PIPE, check=False)
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        raise SystemExit(f"{path}: status {done.returncode}: {done.stderr.decode()}")
    subprocess.run([dpmf, "export", "-q", store, "--csv", out, "--replace"], check=True)
    with open(os.path.join(out, "ratings.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))[1:]
    os.remove(store)
    shutil.rmtree(out)
    return {(user, item): repr(float(rating)) for user, item, rating in rows}


def ratings_of(rows, differences):
    """What rows of texts mean: ratings of pairs, the last of a pair, or None where dpmf is to
    refuse. Adds the names of the differences on purpose that had to be allowed for."""
    if rows is None:
        return None
    found = {}
    for row in rows:
        if row in ([], [""], ["", None, None]):
            differences.add("blank lines are passed over")
            continue
        if len(row) != 3 or not row[0] or not row[1] or row[2] is None:
            return None
        text = row[2].strip(" \t")
        if not NUMBER.fullmatch(text):
            return None
        if text != row[2]:
            differences.add("blanks around a rating are passed over")
        rating = float(text)
        if not math.isfinite(rating):
            return None
        found[row[0], row[1]] = repr(rating)  # tells -0 from 0
    return found or None


READERS = {"python": by_python, "sqlite": by_sqlite, "pandas": by_pandas}

# Where dpmf refuses on purpose what others read, and the reader that shows it.
STRAY = {
    "stray quote": "a quote inside a field that does not begin with one is refused",
    "text behind a quote": "text behind a closing quote is refused",
}
# Each difference once, for certain: a list that nothing shows any more is not true.
EXAMPLES = {
    "blank lines are passed over": b"user,item,rating\na,b,4\n\nc,d,5\n",
    "blanks around a rating are passed over": b"user,item,rating\na,b, 4 \n",
    STRAY["stray quote"]: b'user,item,rating\na"x,b,4\n',
    STRAY["text behind a quote"]: b'user,item,rating\n"a"x,b,4\n',
}


class Comparison:
    """All readers on one table after the other."""

    def __init__(self, dpmf, folder):
        self.dpmf, self.folder = dpmf, folder
        self.path = os.path.join(folder, "t.csv")
        self.seen = set()

    def faults(self, table, odd):
        """@return what differs without a name"""
        with open(self.path, "wb") as file:
            file.write(table)
        ours, faults = by_dpmf(self.dpmf, self.path, self.folder), []
        for name, read in READERS.items():
            differences = set()
            theirs = ratings_of(read(table, self.path), differences)
            if theirs == ours:
                self.seen |= differences
            elif ours is None and odd:
                self.seen |= {STRAY[what] for what in odd}
            else:
                faults.append(f"{name} reads {theirs}, dpmf {ours}")
        return faults


def main():
    dpmf = os.path.abspath(sys.argv[1])
    tables = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(dpmf, folder)
        for seed in range(first, first + tables):
            table = Table(seed)
            faults = comparison.faults(table.bytes, table.odd & set(STRAY))
            passed, failed = passed + (not faults), failed + bool(faults)
            for fault in faults:
                print(f"FAILED: table {seed}: {table.bytes!r}: {fault}")
        for name, table in EXAMPLES.items():
            comparison.seen.clear()
            odd = {what for what, text in STRAY.items() if text == name}
            faults = comparison.faults(table, odd)
            wrong = faults or (name not in comparison.seen and ["nothing differs"])
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"FAILED: {name}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
