"""The same ratings in every form that people have them in: each must give the same model.

Prints a line a kind, its name and "yes", "no library" or "FAILED: why", with a tab between; the
first line has the libraries. test.sh runs it for each Python, with the newest libraries of which
there are wheels for it.
"""

from __future__ import annotations

import contextlib
import csv
import importlib
import os
import sqlite3
import sys
import tempfile
from pathlib import Path

import numpy as np

import dpmf

FIRST_DAY = 1_600_000_000


def library(name: str):
    """A module, or the end of this kind."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise LookupError(name) from None


class Inputs:
    """The ratings as columns, and in files of a folder."""

    def __init__(self, folder: Path):
        rng = np.random.default_rng(3)
        users, items = np.divmod(rng.permutation(60 * 30)[:900], 30)
        self.folder = folder
        self.users = [f"u{user}" for user in users]
        self.items = [f"film {item}" for item in items]
        self.ratings = (1 + (users * items) % 5).astype("float64")
        self.times = FIRST_DAY + np.arange(900)
        self.numbers = users, items
        self.kept: list = []  # what must live as long as what came of it
        with open(self.csv(), "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["user_id", "item_id", "rating", "timestamp"])
            table.writerows(zip(self.users, self.items, self.ratings, self.times))

    def csv(self) -> Path:
        return self.folder / "ratings.csv"

    def columns(self) -> dict:
        return {"user_id": self.users, "item_id": self.items, "rating": self.ratings,
                "timestamp": self.times}

    def arrow(self):
        return library("pyarrow").table(self.columns())

    def pandas(self):
        return library("pandas").DataFrame(self.columns())

    def polars(self):
        return library("polars").DataFrame(self.columns())

    def parquet(self, name: str = "ratings.parquet", rows=slice(None)) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        library("pyarrow.parquet").write_table(
            library("pyarrow").table({name: column[rows] for name, column in
                                      self.columns().items()}), path)
        return path

    def parts(self) -> Path:
        for i in range(3):
            self.parquet(f"parts/{i}.parquet", slice(300 * i, 300 * (i + 1)))
        return self.folder / "parts"


def whole(given):
    """What fit is given alone."""
    return lambda inputs: (given(inputs),)


def sparse(inputs: Inputs):
    users, items = inputs.numbers
    return library("scipy.sparse").coo_matrix((inputs.ratings, (users, items)), shape=(60, 30))


def structured(inputs: Inputs):
    kinds = [("user_id", "U8"), ("item_id", "U8"), ("rating", "f8"), ("timestamp", "i8")]
    return np.array(list(zip(*inputs.columns().values())), dtype=kinds)


def arrow_pandas(inputs: Inputs):
    library("pyarrow")
    return inputs.pandas().convert_dtypes(dtype_backend="pyarrow")


def dated_polars(inputs: Inputs):
    polars = library("polars")
    return inputs.polars().with_columns(polars.from_epoch("timestamp", time_unit="s"),
                                        polars.col("item_id").cast(polars.Categorical))


def scanned(inputs: Inputs):
    return library("polars").scan_parquet(inputs.parquet())


def relation(inputs: Inputs):
    return library("duckdb").sql(f"select * from '{inputs.parquet()}'")


def feather(inputs: Inputs) -> Path:
    path = inputs.folder / "ratings.arrow"
    library("pyarrow.feather").write_feather(inputs.arrow(), str(path), compression="zstd")
    return path


def stored(inputs: Inputs) -> Path:
    path = inputs.folder / "ratings.dpr"
    dpmf.import_ratings(inputs.csv(), path)
    return path


def database(inputs: Inputs) -> Path:
    path = inputs.folder / "ratings.db"
    if path.exists():
        return path
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute("create table ratings (user_id, item_id, rating, timestamp)")
        base.executemany("insert into ratings values (?, ?, ?, ?)",
                         zip(inputs.users, inputs.items, inputs.ratings.tolist(),
                             inputs.times.tolist()))
    return path


def cursor(inputs: Inputs):
    library("pyarrow")
    connection = library("adbc_driver_sqlite.dbapi").connect(str(database(inputs)))
    inputs.kept.append(connection)
    asked = connection.cursor()
    asked.execute("select user_id, item_id, rating, timestamp from ratings")
    return asked


def pairs(inputs: Inputs):
    return np.column_stack([inputs.users, inputs.items]), inputs.ratings


# What fit is given, and then what fit_file is.
KINDS = {
    "lists": lambda inputs: (inputs.users, inputs.items, list(inputs.ratings)),
    "NumPy arrays": lambda inputs: (np.array(inputs.users), np.array(inputs.items),
                                    inputs.ratings),
    "dict of columns": whole(Inputs.columns),
    "structured array": whole(structured),
    "SciPy sparse matrix": whole(sparse),
    "X and y, as for scikit-learn": pairs,
    "pandas frame": whole(Inputs.pandas),
    "pandas frame of Arrow types": whole(arrow_pandas),
    "polars frame": whole(Inputs.polars),
    "polars frame of dates, categories": whole(dated_polars),
    "polars lazy frame": whole(lambda inputs: inputs.polars().lazy()),
    "polars scan of Parquet": whole(scanned),
    "pyarrow table": whole(Inputs.arrow),
    "pyarrow reader": whole(lambda inputs: inputs.arrow().to_reader(100)),
    "DuckDB relation": whole(relation),
    "ADBC cursor": whole(cursor),
}
FILES = {
    "CSV": Inputs.csv,
    "Parquet": Inputs.parquet,
    "folder of Parquet": Inputs.parts,
    "pattern of Parquet": lambda inputs: inputs.parts() / "*.parquet",
    "Arrow file, zstd": feather,
    "store": stored,
    "SQLite": lambda inputs: f"sqlite:{database(inputs)}?query="
                             "select user_id, item_id, rating, timestamp from ratings",
}


def model() -> dpmf.Model:
    return dpmf.Model(n_factors=4, n_epochs=3, adapt=False, deterministic=True, progress=False)


def try_kind(make, inputs: Inputs, is_file: bool, wanted: np.ndarray) -> str:
    try:
        given = make(inputs)
    except LookupError:
        return "no library"
    try:
        fitted = model().fit_file(given) if is_file else model().fit(*given)
        numbered = "film 3" not in set(map(str, fitted.items_.tolist()))  # rows of a matrix
        asked = inputs.numbers if numbered else (inputs.users, inputs.items)
        found = fitted.predict(*asked)
    except Exception as why:  # whatever it is, it is what the user would see
        return f"FAILED: {type(why).__name__}: {why}".replace("\n", " ")
    return "yes" if np.allclose(found, wanted, atol=1e-5) else "FAILED: another model"


LIBRARIES = ("numpy", "scipy", "pandas", "polars", "pyarrow", "duckdb", "adbc_driver_sqlite",
             "sklearn")


def versions() -> str:
    """Python's and the libraries', as far as they are here."""
    found = [f"Python {sys.version.split()[0]}"]
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            found.append(f"{name} {importlib.import_module(name).__version__}")
    return ", ".join(found)


def main() -> int:
    print(f"libraries\t{versions()}")
    failed = False
    with tempfile.TemporaryDirectory(prefix="dpmf-inputs-") as folder:
        inputs = Inputs(Path(folder))
        wanted = model().fit_file(inputs.csv()).predict(inputs.users, inputs.items)
        os.chdir(folder)
        for kinds, is_file in ((KINDS, False), (FILES, True)):
            for name, make in kinds.items():
                verdict = try_kind(make, inputs, is_file, wanted)
                failed = failed or verdict.startswith("FAILED")
                print(f"{name}\t{verdict}", flush=True)
    for one in inputs.kept:
        one.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
