"""Ratings in whatever form they come, as a store of the library.

Arrays, sparse and dense matrices, data frames, files: each becomes columns of users, items, ratings
and times, and those are read by the library where they are.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional

import numpy as np

from ._frames import Frame, frame_of, frame_of_dict
from ._ids import number_ids, pointer
from ._native import ffi, lib
from ._records import are_missing, ratings_of, times_of
from ._run import Run
from ._values import Struct, is_path, path_bytes, shown, text_bytes
from .errors import InputError, usage


class Columns(NamedTuple):
    """Ratings as they were given."""

    users: Any
    items: Any
    ratings: Any
    times: Any = None
    is_events: bool = False  #: pairs that occurred; the ratings are their counts, or None
    is_full: bool = False  #: a plain matrix of whole numbers, which cannot say what was not rated


class Reading(NamedTuple):
    """How ratings are to be understood."""

    rating_range: Optional[tuple[float, float]] = None
    skip_bad: bool = False
    format: Optional[str] = None
    columns: Optional[str] = None
    separator: Optional[str] = None
    by_record: bool = False  # no record decides how others are read: for private runs
    events: bool = False  # the records are events, with counts or without
    like: Optional[float] = None  # ratings of at least so much become events


class Store:
    """A ratings store that is open."""

    def __init__(self, store: Any, users_are_texts: bool = False,
                 items_are_texts: bool = False) -> None:
        self.pointer = ffi.gc(store, lib.dpmf_store_close)
        self.users_are_texts = users_are_texts
        self.items_are_texts = items_are_texts

    @property
    def holds_events(self) -> bool:
        """Whether it holds events, and no ratings."""
        info = ffi.new("struct dpmf_store_info *")
        lib.dpmf_store_info(self.pointer, info)
        return bool(info.holds_events)


# ---- from what was given to columns ------------------------------------------------------------


def _from_sparse(matrix: Any, are_counts: bool) -> Columns:
    coo = matrix.tocoo()
    return Columns(coo.row, coo.col, coo.data, is_events=are_counts)


def _from_dense(matrix: Any) -> Columns:
    """Users by items; what is masked or missing was not rated. Whether it is taken follows from its shape, and never
    from its type, which one cell can change: each cell is read by itself."""
    masked: Any = np.ma
    values = masked.asanyarray(matrix)
    is_masked = isinstance(matrix, np.ma.MaskedArray)
    _check_shape(values.shape, is_masked)
    data = np.asarray(masked.getdata(values))
    users, items = np.nonzero(~masked.getmaskarray(values) & ~are_missing(data))
    return Columns(users, items, data[users, items], is_full=data.dtype.kind in "iu" and not is_masked)


def _check_shape(shape: tuple[int, ...], is_masked: bool) -> None:
    if len(shape) != 2:
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                         f"a matrix of ratings has two dimensions, not {len(shape)}",
                         "give users, items and ratings, or a matrix of users by items")
    if shape[1] in (3, 4) and not is_masked:
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                         f"an array of {shape[1]} columns may be records or a matrix of {shape[1]} items",
                         "records are given by columns: fit(*array.T); a matrix of so few items masked or sparse")


def _from_frame(frame: Frame, ranks: bool) -> Columns:
    """The columns by their roles. What they are called is not repeated: where a file's header is missing, the names
    are someone's record. Without a rating they are events where there is a count, where there is nothing else but a
    time, or where the goal is to rank."""
    found = {role: frame.places(role) for role in ("user", "item", "rating", "time", "count")}
    n_known = sum(map(len, found.values()))
    is_events = not found["rating"] and bool(found["count"] or ranks or n_known == len(frame.names))
    wanted = ("user", "item") if is_events else ("user", "item", "rating")
    wrong = [role for role in wanted if len(found[role]) != 1]
    if is_events and len(found["count"]) > 1:
        wrong.append("count")
    if wrong:
        raise InputError(lib.DPMF_ERR_INPUT_HEADER,
                         f"of the frame's {len(frame.names)} columns none, or more than one, is named as the "
                         f"{wrong[0]} is",
                         "call one each user, item and rating (or count, of events), or give columns by themselves")
    value, times = found["count" if is_events else "rating"], found["time"]
    return Columns(frame.column(found["user"][0]), frame.column(found["item"][0]),
                   frame.column(value[0]) if value else None,
                   frame.column(times[0]) if times else None, is_events)


def columns_of(users: Any, items: Any = None, ratings: Any = None, times: Any = None, *,
               counts: Any = None, ranks: bool = False, likes: bool = False) -> Columns:
    """The columns behind the arguments of fit. `ranks`: the goal is to rank; `likes`: from ratings, of which some are
    events."""
    if counts is not None and (items is None or ratings is not None):
        raise usage("counts go with users and items, and not with ratings")
    if items is not None:
        return Columns(users, items, ratings if counts is None else counts, times, ratings is None)
    if ratings is not None:
        raise usage("fit needs users, items and ratings, or users and items, or a matrix")
    if times is not None:
        raise usage("timestamps go with users and items")
    if hasattr(users, "tocoo"):
        return _from_sparse(users, ranks and not likes)
    frame = frame_of_dict(users) if isinstance(users, Mapping) else frame_of(users)
    if frame is not None:
        return _from_frame(frame, ranks)
    if isinstance(users, tuple) and len(users) == 2:
        return Columns(*users, None, is_events=True)
    if isinstance(users, tuple) and len(users) in (3, 4):
        return Columns(*users)
    if is_path(users):
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS, f"a {type(users).__name__} alone is no ratings",
                         "fit_file reads a file")
    if not hasattr(users, "__array__"):
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                         f"a {type(users).__name__} alone is neither columns nor a matrix of ratings",
                         "give users, items and ratings: of records, fit(*zip(*records)); or a matrix as an array")
    return _from_dense(users)


# ---- from columns to a store -------------------------------------------------------------------


def _separator(separator: Any) -> bytes:
    text = text_bytes("separator", separator)
    if len(text) != 1 or not lib.dpmf_separator_is(text):
        raise usage(f"separator={shown(separator)} cannot separate columns",
                    'for example: separator=";"')
    return text


def _options(reading: Reading) -> Struct:
    options = Struct("dpmf_input_options")
    for name, text in (("format", reading.format), ("columns", reading.columns)):
        if text is not None:
            options.put(name, text_bytes(name, text))
    if reading.separator is not None:
        options.pointer.separator = _separator(reading.separator)
    options.put("skip_bad", reading.skip_bad)
    options.put("by_record", reading.by_record)
    options.put("events", reading.events)
    if reading.like is not None:
        options.put("has_like", True)
        options.put("like", reading.like)
    if reading.rating_range is not None:
        options.put("has_range", True)
        options.put("range_min", reading.rating_range[0])
        options.put("range_max", reading.rating_range[1])
    return options


def _check_lengths(lengths: dict[str, int]) -> None:
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{count} {name}" for name, count in lengths.items())
        raise InputError(lib.DPMF_ERR_INPUT_COUNT,
                         f"there are {said}: each rating has one of each")


def store_from_columns(columns: Columns, reading: Reading, run: Run) -> Store:
    """A store of ratings in memory, which are read where they are."""
    if columns.is_full and not reading.by_record:  # where one cell that is missing would make floats of it, it is taken
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                         "a dense matrix of integers does not say what was not rated",
                         "use NaN, a masked array or a sparse matrix")
    users = number_ids(columns.users, "users", reading.skip_bad)
    items = number_ids(columns.items, "items", reading.skip_bad)
    ratings = None if columns.ratings is None else ratings_of(columns.ratings, reading.skip_bad)
    times, bad = (None, None) if columns.times is None else times_of(columns.times, reading.skip_bad)
    lengths = {"users": len(users.numbers), "items": len(items.numbers)}
    if ratings is not None:
        lengths["counts" if columns.is_events else "ratings"] = len(ratings)
    if times is not None:
        lengths["timestamps"] = len(times)
    _check_lengths(lengths)
    if bad is not None and bad.any():
        users = users._replace(numbers=np.where(bad, -1, users.numbers))

    arrays = ffi.new("struct dpmf_arrays *")
    arrays.size = ffi.sizeof("struct dpmf_arrays")
    arrays.n, arrays.n_users, arrays.n_items = len(users.numbers), users.n, items.n
    arrays.users = pointer("int64_t *", users.numbers)
    arrays.items = pointer("int64_t *", items.numbers)
    if ratings is None:
        pass  # each of them happened once
    elif ratings.dtype == np.float32:
        arrays.ratings32 = pointer("float *", ratings)
    else:
        arrays.ratings = pointer("double *", ratings)
    if times is not None:
        arrays.times = pointer("int64_t *", times)
    kept = []
    for side, texts in (("user", users.texts), ("item", items.texts)):
        if texts is not None:
            kept.append(ffi.from_buffer("char[]", texts.data))
            setattr(arrays, f"{side}_id_bytes", kept[-1])
            setattr(arrays, f"{side}_id_offsets", pointer("int64_t *", texts.offsets))
    options = _options(reading._replace(events=columns.is_events))
    store = ffi.new("struct dpmf_store **")
    run.call(lib.dpmf_store_from_arrays, arrays, options.pointer, run.pointer, store)
    return Store(store[0], users.are_texts, items.are_texts)


def store_from_file(path: Any, reading: Reading, run: Run) -> Store:
    """A store, or any file that can become one."""
    options = _options(reading)
    store = ffi.new("struct dpmf_store **")
    run.call(lib.dpmf_store_open, path_bytes(path), options.pointer, run.pointer, store)
    return Store(store[0])
