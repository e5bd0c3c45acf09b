"""Pairs of users and items as scikit-learn gives them: one table X of two columns, and the ratings
as y."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ._frames import Frame, frame_of, role_of
from ._native import lib
from .errors import InputError, usage


def items_come_first(table: Any) -> bool:
    """Whether the names of a table of pairs say that its first column has the items."""
    frame = frame_of(table)
    return frame is not None and _place_of_users(frame) == 1


def pairs_of(table: Any, items_first: bool = False) -> Optional[tuple[Any, Any]]:
    """The users and the items of a table of two columns; None for anything else. Columns whose
    names say what they are may be in any order; where no name does, users come first. That is
    refused with `items_first`: the model was fitted to a table with the items there."""
    pairs = _pairs_of(table)
    if pairs is not None and items_first and frame_of(table) is None:
        raise usage("the first column of the table that the model was fitted to has the items, and "
                    "these columns have no names", "give a table with names, or users and items "
                    "apart: predict(users, items)")
    return pairs


def _pairs_of(table: Any) -> Optional[tuple[Any, Any]]:
    shape = getattr(table, "shape", None)
    if shape is None:  # a list of pairs, as scikit-learn accepts it too
        if not isinstance(table, list) or not table or not all(
                isinstance(row, (list, tuple)) and len(row) == 2 for row in table):
            return None
        return [row[0] for row in table], [row[1] for row in table]
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] != 2 or hasattr(table, "tocoo"):
        return None
    frame = frame_of(table)
    if frame is None:
        values = np.asarray(table)
        return np.ascontiguousarray(values[:, 0]), np.ascontiguousarray(values[:, 1])
    user = _place_of_users(frame)
    return frame.column(user), frame.column(1 - user)


def _place_of_users(frame: Frame) -> int:
    """One name that is known decides which column the other is. What they are called is not
    repeated: where a file's header is missing, the names are someone's record."""
    first, second = (role_of(name) for name in frame.names)
    things = ("item", "title", "")
    if first == "user" and second in (*things, "person") or first in ("person", "") and \
            second in things:
        return 0
    if second == "user" and first in (*things, "person") or (first, second) in (
            ("item", "person"), ("title", "person"), ("item", "")):
        return 1
    raise InputError(lib.DPMF_ERR_INPUT_HEADER,
                     "the names of the table's two columns are not those of a user and an item",
                     'name them "user" and "item"')


def r_squared(truth: Any, predicted: npt.NDArray[np.float64], weights: Any) -> float:
    """The share of the ratings' variance that is predicted; 1 is perfect, 0 is their average."""
    y = np.asarray(truth, dtype=np.float64)
    w = np.ones_like(y) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(y) < 2:
        return float("nan")
    residual = float((w * (y - predicted) ** 2).sum())
    total = float((w * (y - np.average(y, weights=w)) ** 2).sum())
    if total == 0:
        return 1.0 if residual == 0 else 0.0
    return 1 - residual / total
