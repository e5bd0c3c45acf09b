"""Ratings in any form, as a store of the library.

Arrays, sparse and dense matrices, data frames, files: each becomes columns of users, items, ratings
and times, and those are read by the library where they are.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._arrow import Table, is_arrow
from ._frames import Frame, frame_of, frame_of_dict, role_of
from ._ids import number_ids, pointer
from ._native import ffi, lib
from ._records import are_missing, ratings_of, times_of
from ._progress import Shown
from ._run import ProgressCallback, Run
from ._values import Struct, flag, is_path, memory_bytes, pair, path_bytes, shown, text_bytes, whole
from .errors import DpmfError, InputError, usage, warn


class Columns(NamedTuple):
    """Ratings as they were given."""

    users: Any
    items: Any
    ratings: Any
    times: Any = None
    is_events: bool = False  #: pairs that occurred; the ratings are their counts, or None
    is_full: bool = False  #: a plain matrix of whole numbers, which cannot say what was not rated


class Named(NamedTuple):
    """The names of a table's columns, where they are not the usual ones."""

    user: Optional[str] = None
    item: Optional[str] = None
    rating: Optional[str] = None  #: of events, the counts
    time: Optional[str] = None

    def check(self) -> None:
        for role, name in self._asdict().items():
            if name is not None and (not isinstance(name, str) or not name):
                raise usage(f"{role}={shown(name)} is not the name of a column")


class Given(NamedTuple):
    """An Arrow table, as it was given."""

    value: Any
    is_events: bool
    names: Named
    users_are_texts: bool
    items_are_texts: bool
    table: Any  #: it is open


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
    names: Named = Named()  # of columns of a file that has names for them


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

    def warn_off_scale(self, file: Any) -> None:
        """Warns where this is the history of a model with another scale."""
        info = ffi.new("struct dpmf_store_info *")
        lib.dpmf_store_info(self.pointer, info)
        if file.ranks or info.holds_events or not info.ratings:
            return
        if info.min < file.info.min or info.max > file.info.max:
            warn(f"ratings of history go from {info.min:g} to {info.max:g}, and the model's scale "
                 f"from {file.info.min:g} to {file.info.max:g}")


# ---- from what was given to columns ------------------------------------------------------------


def _from_sparse(matrix: Any, are_counts: bool) -> Columns:
    coo = matrix.tocoo()
    return Columns(coo.row, coo.col, coo.data, is_events=are_counts)


def _from_dense(matrix: Any) -> Columns:
    """Users by items; what is masked or missing was not rated. Whether it is taken follows from its
    shape, and never from its type, which one cell can change: each cell is read by itself."""
    masked: Any = np.ma
    values = masked.asanyarray(matrix)
    is_masked = isinstance(matrix, np.ma.MaskedArray)
    _check_shape(values.shape, is_masked)
    data = np.asarray(masked.getdata(values))
    users, items = np.nonzero(~masked.getmaskarray(values) & ~are_missing(data))
    return Columns(users, items, data[users, items], is_full=data.dtype.kind in "iu" and
                   not is_masked)


def _check_shape(shape: tuple[int, ...], is_masked: bool) -> None:
    if len(shape) != 2:
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                         f"a matrix of ratings has two dimensions, not {len(shape)}",
                         "give users, items and ratings, or a matrix of users by items")
    if shape[1] in (3, 4) and not is_masked:
        raise InputError(
            lib.DPMF_ERR_INPUT_COLUMNS,
            f"an array of {shape[1]} columns may be records or a matrix of {shape[1]} items",
            "records are given by columns: fit(*array.T); a matrix of so few items masked or sparse"
        )


def _from_arrow(value: Any, names: Named, ranks: bool, is_private: bool = False) -> Given:
    """The library finds the columns; the schema says whether they are events, and whether ids are
    texts."""
    table = Table(value, is_private)
    found = {role: [field for field in table.fields if role_of(field.name) == role]
             for role in ("user", "item", "rating", "count")}
    has_value = bool(names.rating or found["rating"] or found["count"])
    texts = []
    for role, name in (("user", names.user), ("item", names.item)):
        fields = (found[role]
                  if name is None else [field for field in table.fields if field.name == name])
        texts.append(bool(fields) and fields[0].is_text)
    is_events = ranks and not has_value
    if not names.rating and not found["rating"]:
        others = [field for field in table.fields if not role_of(field.name)
                  and field.name not in (names.user, names.item, names.time)]
        is_events = is_events or bool(found["count"]) or not others
    return Given(value, is_events, names, texts[0], texts[1], table)


def _from_frame(frame: Frame, ranks: bool, names: Named = Named()) -> Columns:
    """The columns by their roles. What they are called is not repeated: where a file's header is
    missing, the names are someone's record. Without a rating they are events where there is a
    count, where there is nothing else but a time, or where the goal is to rank."""
    found = {role: frame.places(role) for role in ("user", "item", "rating", "time", "count")}
    for role, name in names._asdict().items():
        if name is not None:
            found = {
                other: [place for place in places if frame.names[place] != name]
                for other, places in found.items()
            }
            found[role] = [place for place, own in enumerate(frame.names) if own == name]
    n_known = sum(map(len, found.values()))
    is_events = not found["rating"] and bool(found["count"] or ranks or n_known == len(frame.names))
    wanted = ("user", "item") if is_events else ("user", "item", "rating")
    wrong = [role for role in wanted if len(found[role]) != 1]
    if is_events and len(found["count"]) > 1:
        wrong.append("count")
    if wrong:
        raise InputError(
            lib.DPMF_ERR_INPUT_HEADER,
            f"of the frame's {len(frame.names)} columns, none or more than one is named like the "
            f"{wrong[0]}",
            "name one column each user, item and rating (or count, for events), or give columns "
            "separately"
        )
    value, times = found["count" if is_events else "rating"], found["time"]
    return Columns(frame.column(found["user"][0]), frame.column(found["item"][0]),
                   frame.column(value[0]) if value else None,
                   frame.column(times[0]) if times else None, is_events)


def columns_of(users: Any, items: Any = None, ratings: Any = None, times: Any = None, *,
               counts: Any = None, ranks: bool = False, likes: bool = False,
               names: Named = Named(), is_private: bool = False) -> Union[Columns, Given]:
    """The columns behind the arguments of fit. `ranks`: the goal is to rank; `likes`: from ratings,
    of which some are events; `is_private`: for a release."""
    names.check()
    if any(names) and items is not None:
        raise usage(
            "user, item, rating and time name columns of a table: users and items are given by "
            "themselves here"
        )
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
    if is_arrow(users):
        return _from_arrow(users, names, ranks, is_private)
    frame = frame_of_dict(users) if isinstance(users, Mapping) else frame_of(users)
    if frame is not None:
        return _from_frame(frame, ranks, names)
    if any(names):
        raise usage("user, item, rating and time name columns of a table, and this is none")
    if isinstance(users, tuple) and len(users) == 2:
        return Columns(*users, None, is_events=True)
    if isinstance(users, tuple) and len(users) in (3, 4):
        return Columns(*users)
    if is_path(users):
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                         f"a {type(users).__name__} alone is no ratings", "fit_file reads a file")
    if not hasattr(users, "__array__"):
        raise InputError(
            lib.DPMF_ERR_INPUT_COLUMNS,
            f"a {type(users).__name__} alone is neither columns nor a matrix of ratings",
            "give users, items and ratings: of records, fit(*zip(*records)); or a matrix as an "
            "array"
        )
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
                         f"there are {said}: each record has one of each")


def _arrow_options(given: Given, reading: Reading) -> Struct:
    options = _options(reading)
    _put_names(options, given.names)
    return options


def _put_names(options: Struct, names: Named) -> None:
    for role, name in names._asdict().items():
        if name is not None:
            options.put(f"{role}_column", text_bytes(role, name))


def _call_with_table(given: Given, reading: Reading, run: Run, *arguments: Any) -> None:
    try:
        run.call(*arguments)
    except DpmfError as reason:
        failure = given.table.failure
        if failure is None or reading.by_record:  # what another library says may be about people
            raise
        raise reason from failure


def _store_from_arrow(given: Given, reading: Reading, run: Run) -> Store:
    store = ffi.new("struct dpmf_store **")
    options = _arrow_options(given, reading._replace(events=given.is_events))
    _call_with_table(given, reading, run, lib.dpmf_store_from_arrow, given.table.stream,
                     options.pointer, run.pointer, store)
    return Store(store[0], given.users_are_texts, given.items_are_texts)


def store_from_columns(columns: Union[Columns, Given], reading: Reading, run: Run) -> Store:
    """A store of ratings in memory, which are read where they are."""
    if isinstance(columns, Given):
        return _store_from_arrow(columns, reading, run)
    # where one cell that is missing would make floats of it, it is taken
    if columns.is_full and not reading.by_record:
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                         "a dense matrix of integers does not say what was not rated",
                         "use NaN, a masked array or a sparse matrix")
    users = number_ids(columns.users, "users", reading.skip_bad)
    items = number_ids(columns.items, "items", reading.skip_bad)
    what = "counts" if columns.is_events else "ratings"
    ratings = (None if columns.ratings is None else ratings_of(columns.ratings, reading.skip_bad,
                                                               what))
    times, bad = ((None,
                   None) if columns.times is None else times_of(columns.times, reading.skip_bad))
    lengths = {"users": len(users.numbers), "items": len(items.numbers)}
    if ratings is not None:
        lengths[what] = len(ratings)
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
    _put_names(options, reading.names)
    store = ffi.new("struct dpmf_store **")
    run.call(lib.dpmf_store_open, path_bytes(path), options.pointer, run.pointer, store)
    return Store(store[0])


# ---- from anything to a store in a file --------------------------------------------------------


class ImportReport(NamedTuple):
    """What an import did."""

    ratings: int
    users: int
    items: int
    duplicates: int  #: pairs of a user and an item that were there again
    skipped: int  #: bad records
    bytes_written: int
    seconds: float
    holds_events: bool


def import_ratings(source: Any, output: Any, *, user: Optional[str] = None,
                   item: Optional[str] = None, rating: Optional[str] = None,
                   time: Optional[str] = None, format: Optional[str] = None,
                   columns: Optional[str] = None, separator: Optional[str] = None,
                   events: bool = False, on_error: str = "fail",
                   rating_range: Optional[Sequence[float]] = None, n_threads: int = 0,
                   memory: Union[int, str, None] = None,
                   progress: Union[bool, ProgressCallback, None] = None,
                   replace: bool = False) -> ImportReport:
    """Packs ratings into a store, a file that every fit reads fast: ``dpmf import`` of the command
    line.

    `source` is a path, a list of paths, or a table with Arrow's ``__arrow_c_stream__`` or
    ``__arrow_c_array__``: of polars, pyarrow, DuckDB and others, and of pandas where pyarrow is
    installed. Its rows are read where they are. `user`, `item`, `rating` and `time` are the names
    of its columns, where these are not the usual ones. With ``on_error="skip"`` bad records, such
    as those with a null, are counted and skipped. A file that exists already and is not a store
    needs `replace`.
    """
    if on_error not in ("fail", "skip"):
        raise usage(f'on_error={shown(on_error)} is not "fail" or "skip"')
    names = Named(user, item, rating, time)
    names.check()
    reading = Reading(None if rating_range is None else pair("rating_range", rating_range),
                      on_error == "skip", format, columns, separator, events=flag("events", events))
    run = Run(whole("n_threads", n_threads, 0, 4096), memory_bytes(memory), Shown(progress),
              flag("replace", replace))
    report, path = ffi.new("struct dpmf_import_report *"), path_bytes(output)
    paths = [source] if is_path(source) else source
    if isinstance(paths, (list, tuple)) and paths and all(map(is_path, paths)):
        options = _options(reading)
        _put_names(options, names)
        texts = [ffi.new("char[]", path_bytes(one)) for one in paths]
        run.call(lib.dpmf_import, ffi.new("char *[]", texts), len(texts), path, options.pointer,
                 run.pointer, report)
    elif hasattr(source, "__arrow_c_stream__") or is_arrow(source):
        given = _from_arrow(source, names, False)
        options = _arrow_options(given, reading._replace(events=reading.events))
        _call_with_table(given, reading, run, lib.dpmf_import_arrow, given.table.stream, path,
                         options.pointer, run.pointer, report)
    else:
        raise usage(f"a {type(source).__name__} is neither a path nor an Arrow table",
                    "give a path, a list of paths, or a frame")
    return ImportReport(*(getattr(report, name) for name in ImportReport._fields))
