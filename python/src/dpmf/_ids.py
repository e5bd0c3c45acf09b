"""Ids: text of any kind, or whole numbers, which stand for their decimal text.

The library knows ids as bytes; NumPy has them as arrays of many types. Here one becomes the other,
without a copy where an array of int64 is given.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._native import ffi, lib
from ._records import Column, Mask, column_of, first_of, is_whole
from ._values import encoded, is_writable, shown
from .errors import DpmfWarning, InputError, PrivacyWarning, warn

Id = Union[int, str, bytes, np.integer]
IntArray = npt.NDArray[np.int64]

LARGE_FLOATS = (
    'a float of that size stands for several whole numbers: give ids as text or, where a missing '
    'one '
    'has made floats of them in pandas, as type "Int64"')
SMALL_FLOATS = (
    "a float is an id only when it is a whole number below 2^53 (float32: 2^24, float16: 2^11)")
UNKNOWN = 2**64 - 1  # as the library numbers what it does not know


def pointer(kind: str, array: npt.NDArray[Any]) -> Any:
    """The array's memory for a call: no copy. It must live as long as the call."""
    return ffi.cast(kind, array.ctypes.data)


# ---- one id ----------------------------------------------------------------------------------


def _float_end(kind: Any) -> float:
    """From here on floats of this type stand for several whole numbers: 2^53, 2^24 of 32 bits, 2^11
    of 16."""
    return 2.0 ** min(np.finfo(kind).nmant + 1, 53)


def whole_of(value: Any) -> Optional[int]:
    """The whole number that a float stands for; None if it is not whole, or could stand for
    several."""
    return (int(value)
            if abs(float(value)) < _float_end(type(value)) and value.is_integer() else None)


def id_bytes(value: Any) -> Optional[bytes]:
    """The bytes of an id; None when this is not an id."""
    if isinstance(value, str):
        return encoded(value)
    if isinstance(value, bytes):
        return value
    if isinstance(value, (float, np.floating)):
        value = whole_of(value)
    return b"%d" % int(value) if is_whole(value) and is_writable(int(value)) else None


def _is_too_large(value: Any) -> bool:
    """A float that could be several whole numbers."""
    return (isinstance(value, (float, np.floating)) and
            _float_end(type(value)) <= abs(float(value)) < np.inf)


def refuse_id(name: str, value: Any, is_private: bool = False) -> InputError:
    """The exception for something that is not an id; in a private run it names only the type."""
    hint = ""
    if isinstance(value, (float, np.floating)) and value == value:
        hint = LARGE_FLOATS if _is_too_large(value) else SMALL_FLOATS
    elif is_whole(value):
        hint = "a whole number of so many digits is none: give its text"
    elif isinstance(value, str) and value:
        hint = "this text has half of a surrogate pair, which no bytes stand for"
    what = f"a {type(value).__name__}" if is_private else shown(value)
    return InputError(lib.DPMF_ERR_INPUT_ID, f"{name} is {what}: an id is text or a whole number",
                      hint)


# ---- columns of ids --------------------------------------------------------------------------


def _whole_floats(array: npt.NDArray[Any],
                  missing: Optional[Mask]) -> tuple[IntArray, Optional[Mask]]:
    end = _float_end(array.dtype)
    if array.dtype.itemsize < 8:
        array = array.astype(np.float64)
    is_id = (np.abs(array) < end) & (np.floor(array) == array)
    whole = np.where(is_id, array, 0).astype(np.int64)
    return whole, ~is_id if missing is None else missing | ~is_id


def _whole_numbers(column: Column) -> Optional[tuple[IntArray, Optional[Mask]]]:
    """The column as int64, itself if it is that, and which of it are no ids; None when it is
    something else."""
    values = column.values
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "f":
            return _whole_floats(values, column.missing)
        if values.dtype.kind not in "iu":
            return None
        if values.dtype == np.uint64 and len(values) and values.max() > np.iinfo(np.int64).max:
            return None
        return np.ascontiguousarray(values, dtype=np.int64), column.missing
    try:
        return (np.array(values, dtype=np.int64), None) if column.only(int) else None
    except OverflowError:
        return None


class Texts(NamedTuple):
    """Ids that lie one after the other."""

    data: bytes
    offsets: IntArray

    @classmethod
    def pack(cls, ids: Sequence[bytes]) -> Texts:
        offsets = np.zeros(len(ids) + 1, dtype=np.int64)
        lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        np.cumsum(lengths, out=offsets[1:])
        return cls(b"".join(ids), offsets)


class Numbered(NamedTuple):
    """A column of ids as dpmf_store_from_arrays takes it."""

    numbers: IntArray
    n: int  #: numbers are below it
    texts: Optional[Texts]  #: None: the ids are the numbers
    are_texts: bool  #: whether any was given as a text


def _distinct(values: Sequence[Any]) -> Optional[dict[Any, int]]:
    """The distinct values as keys; None where equal ones need not be the same id, as 1 and True."""
    kinds = {str, int, bytes, type(None)}
    return dict.fromkeys(values, -1) if set(map(type, values)) <= kinds else None


def _plain_floats(values: Sequence[Any]) -> Sequence[Any]:
    """Floats replaced by whole numbers or None: 2.0**60 equals 2**60, but is not an id."""
    if float not in set(map(type, values)):
        return values
    return [whole_of(value) if type(value) is float else value for value in values]


def _number_texts(column: Column, name: str, skip_bad: bool) -> Numbered:
    """The distinct ids in the order they are met, by way of their bytes."""
    given = column.listed()
    values = _plain_floats(given)
    distinct = _distinct(values)  # most are met again and again: their bytes are made once
    by_text: dict[bytes, int] = {}
    are_texts = False
    numbers: list[int] = []
    for value in values if distinct is None else distinct:
        text = id_bytes(value)
        number = by_text.setdefault(text, len(by_text)) if text else -1
        are_texts |= bool(text) and isinstance(value, (str, bytes))
        if distinct is None:
            numbers.append(number)
        else:
            distinct[value] = number
    found = numbers if distinct is None else map(distinct.__getitem__, values)
    numbered = np.fromiter(found, dtype=np.int64, count=len(values))
    bad = numbered < 0
    if not skip_bad and bad.any():
        place = first_of(bad)
        raise refuse_id(f"{name}[{place}]", given[place])
    return Numbered(numbered, len(by_text), Texts.pack(list(by_text)), are_texts)


def _number_whole(whole: IntArray) -> Numbered:
    """Whole numbers stand for themselves, but for negative ones, which go by their texts."""
    if len(whole) == 0 or whole.min() >= 0:
        return Numbered(whole, int(whole.max()) + 1 if len(whole) else 0, None, False)
    distinct, inverse = np.unique(whole, return_inverse=True)
    texts = Texts.pack([b"%d" % value for value in distinct.tolist()])
    return Numbered(np.ascontiguousarray(inverse, dtype=np.int64), len(distinct), texts, False)


def _tell_large(column: Column, name: str) -> None:
    """Reports how many ids a column of floats has lost: a tenth of them is more than a few stray
    records."""
    values = column.values
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        return
    end = _float_end(values.dtype)
    large = int(np.count_nonzero((np.abs(values.astype(np.float64)) >= end) & np.isfinite(values)))
    if large:
        are = "is a float" if large == 1 else "are floats"
        warn(
            f"{large} of {len(values)} {name} {are} of 2^{int(np.log2(end))} or more, and left "
            f"out: {LARGE_FLOATS}",
            PrivacyWarning if 10 * large >= len(values) else DpmfWarning)


def number_ids(values: Any, name: str, skip_bad: bool = False) -> Numbered:
    """A column of ids, numbered. What is not an id is refused or, with `skip_bad`, numbered -1."""
    column = column_of(values, name, "ids")
    found = _whole_numbers(column)
    if found is None:
        return _number_texts(column, name, skip_bad)
    whole, bad = found
    if bad is None or not bad.any():
        return _number_whole(whole)
    if not skip_bad:
        place = first_of(bad)
        raise refuse_id(f"{name}[{place}]", column.listed()[place])
    _tell_large(column, name)
    numbered = _number_whole(whole[~bad])
    numbers = np.full(len(whole), -1, dtype=np.int64)
    numbers[~bad] = numbered.numbers
    return numbered._replace(numbers=numbers)


# ---- the ids of a model ------------------------------------------------------------------------


class Ids:
    """The users or the items of an open model: ids to numbers and back."""

    def __init__(self, model: Any, count: int, side: str, as_texts: bool = False) -> None:
        self.as_texts = as_texts
        self._model = model
        self._count = count
        self._side = side
        self._array: Optional[npt.NDArray[Any]] = None

    @property
    def array(self) -> npt.NDArray[Any]:
        """All ids in the model's order: int64, or texts where those are wanted or needed."""
        if self._array is None:
            array = None if self.as_texts else self._read_whole()
            if array is None:
                array = self._read_texts()
            array.flags.writeable = False
            self._array = array
        return self._array

    def _read_whole(self) -> Optional[npt.NDArray[Any]]:
        ids = np.empty(self._count, dtype=np.int64)
        read = getattr(lib, f"native_{self._side}_ids_whole")
        return ids if read(self._model, self._count, pointer("int64_t *", ids)) else None

    def _read_texts(self) -> npt.NDArray[Any]:
        read = getattr(lib, f"native_{self._side}_ids")
        offsets = np.empty(self._count + 1, dtype=np.int64)
        size = read(self._model, self._count, pointer("int64_t *", offsets), ffi.NULL)
        data = bytearray(size)
        read(self._model, self._count, pointer("int64_t *", offsets), ffi.from_buffer(data))
        ids = np.empty(self._count, dtype=object)
        bounds = offsets.tolist()
        for i in range(self._count):
            ids[i] = bytes(data[bounds[i]:bounds[i + 1]]).decode("utf-8", "surrogateescape")
        return ids

    def find_one(self, value: Any) -> int:
        """The number of an id, -1 when the model does not know it."""
        text = id_bytes(value)
        if text is None:
            raise refuse_id(f"the {self._side}", value)
        found = getattr(lib, f"dpmf_model_find_{self._side}")(self._model, text, len(text))
        return -1 if found == UNKNOWN else int(found)

    def find(self, values: Any, in_any_order: bool = False) -> IntArray:
        """The numbers of ids, -1 for those that the model does not know."""
        column = column_of(values, f"{self._side}s", "ids", in_any_order)
        whole, bad = _whole_numbers(column) or (None, None)
        numbers = np.empty(len(column.values), dtype=np.int64)
        if whole is not None and (bad is None or not bad.any()):
            find = getattr(lib, f"native_{self._side}s_find_whole")
            find(self._model, pointer("int64_t *", whole), len(whole),
                 pointer("int64_t *", numbers))
            return numbers
        texts = []
        for place, value in enumerate(column.listed()):
            text = None if bad is not None and bad[place] else id_bytes(value)
            if text is None:
                raise refuse_id(f"{self._side}s[{place}]", value)
            texts.append(text)
        packed = Texts.pack(texts)
        find = getattr(lib, f"native_{self._side}s_find")
        find(self._model, packed.data, pointer("int64_t *", packed.offsets), len(texts),
             pointer("int64_t *", numbers))
        return numbers
