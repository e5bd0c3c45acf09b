"""Someone's history as another service exported it, matched with a model's items by title and
year."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._ids import Id, pointer
from ._native import ffi, lib
from ._values import path_bytes
from .errors import check, new_error, told, usage, warn

if TYPE_CHECKING:
    from .user import Shelf

Titles = Union[Mapping[Any, str], Sequence[str]]

_OWN = np.dtype([("item", np.uint64), ("rating", np.float64)], align=True)
_NONE = 2 ** 64 - 1
_MATCHES = ("none", "unsure", "likely", "sure")


class HistoryEntry(NamedTuple):
    """A title of a history.

    `match` is "sure", "likely", "unsure" (see `candidates`) or "none"; `item` is None unless it is
    sure or likely. `rating` is on the model's scale, None where there was none.
    """

    title: str
    creator: str
    year: Optional[int]
    plays: int
    rating: Optional[float]
    match: str
    item: Optional[Id]
    candidates: list[Id]


class History(NamedTuple):
    """A history that was matched: ratings for `Model.fold_in`, all matched items, rated or not, and
    all entries, to look at and correct."""

    service: str
    ratings: dict[Any, float]
    seen: list[Id]
    entries: list[HistoryEntry]


def _title_text(shelf: Shelf, titles: Optional[Titles]) -> bytes:
    """A title for each item of the model, terminated by NUL; its id where there is none."""
    ids = shelf.items.array.tolist()
    if titles is None:
        named: list[Any] = list(ids)
    elif isinstance(titles, Mapping):
        named = [titles.get(item, titles.get(str(item), item)) for item in ids]
    elif isinstance(titles, (str, bytes)) or len(titles) != len(ids):
        raise usage("titles are a dict of items and titles, or a title for each of items_",
                    'for example: {"1": "Dune (1984)"}')
    else:
        named = list(titles)
    return b"".join(
        str(title).replace("\0", " ").encode("utf-8", "replace") + b"\0" for title in named)


def _entry(shelf: Shelf, entry: Any) -> HistoryEntry:
    def own(number: Any) -> Any:
        id = shelf.items.array[int(number)]
        return id.item() if hasattr(id, "item") else id

    return HistoryEntry(
        title=ffi.string(entry.title).decode("utf-8"),
        creator=ffi.string(entry.creator).decode("utf-8"),
        year=int(entry.year) or None,
        plays=int(entry.plays),
        rating=None if math.isnan(entry.rescaled) else float(entry.rescaled),
        match=_MATCHES[min(int(entry.match),
                           len(_MATCHES) - 1)],
        item=None if entry.item == _NONE else own(entry.item),
        candidates=[own(entry.candidates[i]) for i in range(entry.n_candidates)])


def _ratings(shelf: Shelf, diary: Any, n: int) -> npt.NDArray[Any]:
    own, error = np.empty(n + 1, dtype=_OWN), new_error()
    count = check(lib.dpmf_diary_ratings(diary, pointer("struct dpmf_own_rating *", own), n, error),
                  error)
    return own[:count]


def _warn_left_out(info: Any) -> None:
    if info.files_left:
        warn(f"{int(info.files_left)} files of the archive were left out: no history in them")
    left = int(info.unsure + info.none)
    if left:
        warn(f"{left} of {int(info.entries)} titles were not matched surely, and are left out: see "
             "Model.read_history")
    if info.bad:
        warn(f"{int(info.bad)} rows could not be read, the first in line {int(info.first_bad)}: "
             f"{ffi.string(info.fault).decode()}")
    if info.again_undated:
        warn(f"ratings of a title that was rated again: {int(info.again)}; for "
             f"{int(info.again_undated)} of them no date is understood, and the last row counts")
    unused = ffi.string(info.unused).decode(errors="replace")
    if unused:
        warn(f"columns not used: {unused}")


def read_history(shelf: Shelf, path: Any, titles: Optional[Titles]) -> History:
    """Reads and matches a file, and warns of what is left out."""
    name = os.fsdecode(path_bytes(path))
    with told("read", name, lib.DPMF_ERR_IO_READ), open(name, "rb") as file:
        data = file.read()
    text = _title_text(shelf, titles)
    index, diary, error = ffi.new("struct dpmf_titles **"), ffi.new(
        "struct dpmf_diary **"), new_error()
    check(lib.dpmf_diary_new(diary, error), error)
    own = ffi.gc(diary[0], lib.dpmf_diary_free)
    check(lib.dpmf_diary_add(own, data, len(data), path_bytes(path), error), error)
    check(lib.dpmf_titles_make(text, len(text), shelf.file.count("item"), ffi.NULL, index, error),
          error)
    made = ffi.gc(index[0], lib.dpmf_titles_free)
    check(lib.dpmf_diary_match(own, shelf.file.model, made, error), error)
    info, entry = ffi.new("struct dpmf_diary_info *"), ffi.new("struct dpmf_diary_entry *")
    lib.dpmf_diary_info(own, info)
    _warn_left_out(info)
    entries = []
    for i in range(info.entries):
        lib.dpmf_diary_entry(own, i, entry)
        entries.append(_entry(shelf, entry))
    rated = _ratings(shelf, own, info.entries)
    ids = shelf.items.array[rated["item"].astype(np.int64)].tolist()
    return History(
        ffi.string(info.service).decode(), dict(zip(ids, rated["rating"].tolist())),
        list(dict.fromkeys(one.item for one in entries if one.item is not None)), entries)
