"""The small public tables of a private run: from Python objects to files that the library reads."""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

import numpy as np

from ._ids import id_bytes, refuse_id
from ._native import lib
from ._values import is_path, number, path_bytes, text_bytes
from .errors import told, usage


def file_of(value: Any, path: Path, write: Callable[[Any, Any], None]) -> bytes:
    """The name of a file that was given, or of one that is made of what was given."""
    if is_path(value):
        return path_bytes(value)
    with told("write", str(path), lib.DPMF_ERR_IO_WRITE):
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            write(value, csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n"))
    return os.fsencode(path)


def _id_text(name: str, value: Any) -> str:
    text = id_bytes(value)
    if text is None:
        raise refuse_id(name, value)
    return text.decode("utf-8", "surrogateescape")


def write_catalogue(catalogue: Iterable[Any], table: Any) -> None:
    table.writerow(["item"])
    for place, item in enumerate(catalogue):
        table.writerow([_id_text(f"catalogue[{place}]", item)])


def write_wishes(wishes: Any, table: Any) -> None:
    if not isinstance(wishes, Mapping):
        raise usage("user_privacy is a dict of users and epsilons, or a file")
    table.writerow(["user", "epsilon"])
    for user, epsilon in wishes.items():
        table.writerow([_id_text("a user of user_privacy", user),
                        repr(number("user_privacy", epsilon))])


def _cell(value: Any) -> str:
    is_nan = isinstance(value, (float, np.floating)) and math.isnan(value)
    return "" if value is None or is_nan else text_bytes("item_features", value).decode(
        "utf-8", "surrogateescape")


def write_features(features: Any, table: Any) -> None:
    is_table = isinstance(features, Mapping) and all(
        isinstance(row, Mapping) for row in features.values())
    if not is_table:
        raise usage("item_features is a dict of items and what is known about each, or a file",
                    'for example: {"dune": {"genre": "sci-fi", "year": 1984}}')
    names = list(dict.fromkeys(name for row in features.values() for name in row))
    table.writerow(["item", *map(_cell, names)])
    for item, row in features.items():
        table.writerow([_id_text("an item of item_features", item),
                        *(_cell(row.get(name)) for name in names)])
