"""Ids: text of any kind, or whole numbers, which stand for their decimal text.

The library knows ids as bytes; NumPy has them as arrays of many types. Here one becomes the other,
without a copy where an array of int64 is given.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._native import ffi, lib
from ._values import shown
from .errors import InputError

Id = Union[int, str, bytes, np.integer]
IntArray = npt.NDArray[np.int64]
Column = Union[Sequence[Any], npt.NDArray[Any]]

UNKNOWN = 2**64 - 1  # as the library numbers what it does not know


def pointer(kind: str, array: npt.NDArray[Any]) -> Any:
    """The array's memory for a call: no copy. It must live as long as the call."""
    return ffi.cast(kind, array.ctypes.data)


# ---- one id ----------------------------------------------------------------------------------


def is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def id_bytes(value: Any) -> Optional[bytes]:
    """The bytes of an id; None when this is no id."""
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # half of a surrogate pair
            return None
    if isinstance(value, bytes):
        return value
    return b"%d" % int(value) if is_whole(value) else None


def refuse_id(name: str, value: Any) -> InputError:
    """What to raise about something that is no id."""
    hint = ""
    if isinstance(value, (float, np.floating)) and value == value:
        hint = 'floats are no ids: give whole numbers as integers, e.g. with .astype("int64")'
    if isinstance(value, str):
        hint = "this text has half of a surrogate pair, which no bytes stand for"
    return InputError(lib.DPMF_ERR_INPUT_ID,
                      f"{name} is {shown(value)}: an id is text or a whole number", hint)


# ---- columns of ids --------------------------------------------------------------------------


def _column(values: Any, name: str) -> Column:
    """A list as it is, since NumPy would make texts of a mixed one; anything else as an array."""
    if isinstance(values, (str, bytes)):
        raise InputError(lib.DPMF_ERR_INPUT_ID,
                         f"{name} is one text, and not a list of ids")
    if isinstance(values, (list, tuple)):
        return values
    if not hasattr(values, "__array__") and not isinstance(values, range):
        try:
            return list(values)
        except TypeError:
            raise InputError(lib.DPMF_ERR_INPUT_ID,
                             f"{name} is a {type(values).__name__}, and not a list of ids") from None
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                         f"{name} has {array.ndim} dimensions, and a list of ids has one")
    return array


def _whole_numbers(column: Column) -> Optional[IntArray]:
    """The column as int64, itself if it is that; None when it is something else."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "iu":
            return None
        if column.dtype == np.uint64 and len(column) and column.max() > np.iinfo(np.int64).max:
            return None
        return np.ascontiguousarray(column, dtype=np.int64)
    if not all(map(is_whole, column)):
        return None
    try:
        return np.array(column, dtype=np.int64)
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
    return dict.fromkeys(values, -1) if set(map(type, values)) <= {str, int, bytes} else None


def _number_texts(column: Column, name: str, skip_bad: bool) -> Numbered:
    """The distinct ids in the order they are met, by way of their bytes."""
    values = column.tolist() if isinstance(column, np.ndarray) else column
    distinct = _distinct(values)  # most are met again and again: their bytes are made once
    by_text: dict[bytes, int] = {}
    are_texts = False
    numbers: list[int] = []
    for place, value in enumerate(values if distinct is None else distinct):
        text = id_bytes(value)
        if text is None and not skip_bad:
            raise refuse_id(f"{name}[{place}]", value)
        number = -1 if text is None else by_text.setdefault(text, len(by_text))
        are_texts |= isinstance(value, (str, bytes))
        if distinct is None:
            numbers.append(number)
        else:
            distinct[value] = number
    found = numbers if distinct is None else map(distinct.__getitem__, values)
    return Numbered(np.fromiter(found, dtype=np.int64, count=len(values)), len(by_text),
                    Texts.pack(list(by_text)), are_texts)


def number_ids(values: Any, name: str, skip_bad: bool = False) -> Numbered:
    """A column of ids, numbered. What is no id is refused or, with `skip_bad`, numbered -1."""
    column = _column(values, name)
    whole = _whole_numbers(column)
    if whole is None:
        return _number_texts(column, name, skip_bad)
    if len(whole) == 0 or whole.min() >= 0:
        return Numbered(whole, int(whole.max()) + 1 if len(whole) else 0, None, False)
    distinct, inverse = np.unique(whole, return_inverse=True)
    texts = Texts.pack([b"%d" % value for value in distinct.tolist()])
    return Numbered(np.ascontiguousarray(inverse, dtype=np.int64), len(distinct), texts, False)


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

    def find(self, values: Any) -> IntArray:
        """The numbers of ids, -1 for those that the model does not know."""
        column = _column(values, f"{self._side}s")
        whole = _whole_numbers(column)
        numbers = np.empty(len(column), dtype=np.int64)
        if whole is not None:
            find = getattr(lib, f"native_{self._side}s_find_whole")
            find(self._model, pointer("int64_t *", whole), len(whole),
                 pointer("int64_t *", numbers))
            return numbers
        texts = []
        for place, value in enumerate(column):
            text = id_bytes(value)
            if text is None:
                raise refuse_id(f"{self._side}s[{place}]", value)
            texts.append(text)
        packed = Texts.pack(texts)
        find = getattr(lib, f"native_{self._side}s_find")
        find(self._model, packed.data, pointer("int64_t *", packed.offsets), len(texts),
             pointer("int64_t *", numbers))
        return numbers
