"""Columns read record by record: what a value means follows from that value, and from no other.

The type of an array follows from all of its values: one missing id turns whole numbers into floats,
one word turns ratings into texts. So that nobody decides how the records of others are read, the
same value means the same in every array, list or frame. Clean arrays of numbers are read as arrays,
the rest value by value.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._native import ffi, lib
from ._values import shown
from .errors import InputError

Mask = npt.NDArray[np.bool_]

NO_TIME = np.iinfo(np.int64).min  # as the library has it; NumPy's NaT is the same number
TIME_BOUND = 2.0**62  # numbers beyond it are no times
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
SECOND = datetime.timedelta(seconds=1)


class Column(NamedTuple):
    """Values, and which of them are missing where they do not say so themselves."""

    values: Union[Sequence[Any], npt.NDArray[Any]]  #: a list, or an array of one dimension
    missing: Optional[Mask] = None

    def listed(self) -> Sequence[Any]:
        """The values as Python has them; dates and spans of time as NumPy has them, and never as
        their numbers."""
        values = self.values
        if isinstance(values, np.ndarray):
            values = list(values) if values.dtype.kind in "mM" else values.tolist()
        values = _real_parts(values)
        if self.missing is None:
            return values
        return [None if gone else value for value, gone in zip(values, self.missing.tolist())]

    def only(self, *kinds: type) -> bool:
        """Whether this is a list of nothing but these types."""
        return not isinstance(self.values, np.ndarray) and set(map(type, self.values)) <= set(kinds)


def _real_parts(values: Sequence[Any]) -> Sequence[Any]:
    """Complex numbers without an imaginary part as real ones: a single complex number makes a whole
    array complex."""
    if not any(issubclass(kind, (complex, np.complexfloating)) for kind in set(map(type, values))):
        return values
    return [
        value.real if isinstance(value,
                                 (complex, np.complexfloating)) and value.imag == 0 else value
        for value in values
    ]


# ---- columns -----------------------------------------------------------------------------------


def _with_nulls(values: Any, array: npt.NDArray[Any]) -> Column:
    """Whole numbers of Arrow and polars, which NumPy would see as floats where one is missing."""
    fill, is_null = getattr(values, "fill_null", None), getattr(values, "is_null", None)
    if array.dtype.kind != "f" or not callable(fill) or not callable(is_null):
        return Column(array)
    filled = np.asarray(fill(0))
    if filled.dtype.kind not in "iu":
        return Column(array)
    return Column(filled, np.asarray(is_null(), dtype=bool))


def _column_of_array(values: Any) -> Column:
    if isinstance(values, np.ma.MaskedArray):
        masked: Any = np.ma
        return Column(np.asarray(masked.getdata(values)), masked.getmaskarray(values))
    if str(getattr(values, "dtype", "")) == "category":  # of pandas
        values = values.astype(object)
    return _with_nulls(values, np.asarray(values))


def column_of(values: Any, name: str, of: str, in_any_order: bool = False) -> Column:
    """A list as it is, since NumPy would turn a mixed one into texts; anything else as an array. A
    set is a column only where nothing depends on the order."""
    if isinstance(values, (set, frozenset)) and not in_any_order:
        raise InputError(
            lib.DPMF_ERR_INPUT_COLUMNS,
            f"{name} is a {type(values).__name__}, which has no order: nobody knows which {of} "
            "belong to which record", "give a list, in the order of the records")
    if isinstance(values, (list, tuple)):
        return Column(values)
    if isinstance(values, (str, bytes)):
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS, f"{name} is one text, and not a list of {of}")
    if not hasattr(values, "__array__") and not isinstance(values, range):
        try:
            return Column(list(values))
        except TypeError:
            raise InputError(
                lib.DPMF_ERR_INPUT_COLUMNS,
                f"{name} is a {type(values).__name__}, and not a list of {of}") from None
    column = _column_of_array(values)
    dimensions = np.ndim(column.values)
    if dimensions != 1:
        raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                         f"{name} has {dimensions} dimensions, and a list of {of} has one")
    return column


def first_of(mask: Mask) -> int:
    """The place of the first record that is marked."""
    return int(np.argmax(mask))


def is_missing(value: Any) -> bool:
    """None, NaN, NaT, and the NA of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return (isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and
            bool(value != value))


def are_missing(array: npt.NDArray[Any]) -> Mask:
    """The same of all values of an array."""
    if array.dtype.kind in "fcmM":
        return np.asarray(array != array)
    if array.dtype.kind != "O":
        return np.zeros(array.shape, dtype=bool)
    return np.asarray(np.frompyfunc(is_missing, 1, 1)(array), dtype=bool)


def is_whole(value: Any) -> bool:
    """A whole number; not a span of time, though NumPy counts it among the integers."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def is_number(value: Any) -> bool:
    return is_whole(value) or isinstance(value, (float, np.floating, Decimal))


# ---- ratings -----------------------------------------------------------------------------------


def _parse(text: Union[str, bytes]) -> float:
    """A number as the library reads it in files; NaN when this is not a number."""
    try:
        data = text if isinstance(text, bytes) else text.strip(" \t").encode("ascii")
    except UnicodeEncodeError:
        return math.nan
    parsed = ffi.new("double *")
    return parsed[0] if b"\0" not in data and lib.dpmf_parse_double(data, parsed) == 0 else math.nan


def _number(value: Any) -> Optional[float]:
    """A rating; None when this is not a number."""
    if isinstance(value, (str, bytes)):
        parsed = _parse(value)
        return None if math.isnan(parsed) else parsed
    try:
        return float(value) if is_number(value) else None
    except (OverflowError, ValueError):  # of a whole number or a Decimal that no float can hold
        return None


def _refuse_number(name: str, place: int, value: Any) -> InputError:
    return InputError(lib.DPMF_ERR_INPUT_NUMBER,
                      f"{name}[{place}] is {shown(value)}, which is not a number")


def _number_array(column: Column) -> Optional[npt.NDArray[Any]]:
    """Ratings that are all numbers, as float32 or float64, without a copy if they are that
    already."""
    values = column.values
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "iuf":
            return None
        if values.dtype == np.float16:  # 0.7, not 0.7001953125
            return values.astype(str).astype(np.float64)
        is_float = values.dtype in (np.float32, np.float64)
        return np.ascontiguousarray(values, dtype=None if is_float else np.float64)
    try:
        return np.array(values, dtype=np.float64) if column.only(int, float) else None
    except OverflowError:
        return None


def ratings_of(ratings: Any, skip_bad: bool, name: str = "ratings") -> npt.NDArray[Any]:
    """Ratings, or counts, as float64 or float32. What is not a number is refused or, with
    `skip_bad`, becomes NaN."""
    column = column_of(ratings, name, name)
    array = _number_array(column)
    if array is not None and column.missing is not None and column.missing.any():
        if not skip_bad:
            raise _refuse_number(name, first_of(column.missing), None)
        array = np.where(column.missing, np.nan, array)
    if array is not None:
        return array
    listed = column.listed()
    numbers = np.empty(len(listed), dtype=np.float64)
    for place, value in enumerate(listed):
        number = _number(value)
        if number is None and not skip_bad:
            raise _refuse_number(name, place, value)
        numbers[place] = np.nan if number is None else number
    return numbers


# ---- times -------------------------------------------------------------------------------------


def _floored(value: float) -> int:
    return math.floor(value) if abs(value) < TIME_BOUND else NO_TIME


def _time_of_text(text: Union[str, bytes]) -> Optional[int]:
    """Seconds since 1970, or a date as ISO 8601 has it."""
    number = _parse(text)
    if not math.isnan(number):
        return _floored(number)
    if isinstance(text, bytes) or not re.match(r"[0-9]{4}-", text):
        return None
    zoned = _ZONED.fullmatch(text)  # which NumPy is about to refuse
    try:
        local = int(np.datetime64(zoned[1] if zoned else text, "s").astype(np.int64))
    except ValueError:
        return None
    return local - _offset(zoned[2]) if zoned else local


_ZONED = re.compile(r"(.+:.+?)(Z|[+-][0-9]{2}(?::?[0-9]{2})?)")


def _offset(zone: str) -> int:
    """Seconds east of Greenwich: "Z", "+02", "+0200" or "+02:00"."""
    if zone == "Z":
        return 0
    seconds = 3600 * int(zone[1:3]) + 60 * int(zone[-2:] if len(zone) > 3 else 0)
    return -seconds if zone[0] == "-" else seconds


def _time(value: Any) -> Optional[int]:
    """Seconds since 1970, or NO_TIME; None when this is not a time."""
    if is_missing(value):
        return NO_TIME
    if isinstance(value, (str, bytes)):
        return _time_of_text(value)
    if isinstance(value, np.datetime64):
        return int(value.astype("datetime64[s]").astype(np.int64))
    if isinstance(value, datetime.datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=datetime.timezone.utc)
        return (aware - EPOCH) // SECOND
    if isinstance(value, datetime.date):
        return (value - EPOCH.date()).days * 86400
    if is_whole(value):
        return int(value) if abs(int(value)) < 2**63 else NO_TIME
    number = _number(value)
    return None if number is None else _floored(number)


def _time_array(column: Column) -> Optional[npt.NDArray[np.int64]]:
    """Times that are all of one kind, none of which can be bad."""
    array = column.values
    if not isinstance(array, np.ndarray):
        try:
            return np.array(array, dtype=np.int64) if column.only(int) else None
        except OverflowError:
            return None
    if array.dtype.kind == "M":
        array = array.astype("datetime64[s]").astype(np.int64)
    elif array.dtype.kind == "f":
        is_time = np.abs(array) < TIME_BOUND
        array = np.where(is_time, np.floor(np.where(is_time, array, 0)).astype(np.int64), NO_TIME)
    elif array.dtype == np.uint64:
        array = (np.where(array < 2**63, array, 0).astype(np.int64) +
                 np.where(array < 2**63, 0, NO_TIME))
    elif array.dtype.kind not in "iu":
        return None
    array = np.ascontiguousarray(array, dtype=np.int64)
    return array if column.missing is None else np.where(column.missing, NO_TIME, array)


def times_of(times: Any, skip_bad: bool) -> tuple[npt.NDArray[np.int64], Optional[Mask]]:
    """Seconds since 1970, of numbers, texts, or dates and times of NumPy, Python or a frame.

    What is not a time is refused or, with `skip_bad`, marked in the mask. A missing time is not an
    error.
    """
    column = column_of(times, "timestamps", "times")
    array = _time_array(column)
    if array is not None:
        return array, None
    listed = column.listed()
    seconds = np.empty(len(listed), dtype=np.int64)
    bad = np.zeros(len(listed), dtype=bool)
    for place, value in enumerate(listed):
        second = _time(value)
        if second is None and not skip_bad:
            raise InputError(
                lib.DPMF_ERR_INPUT_TIME,
                f"timestamps[{place}] is {shown(value)}: neither seconds since 1970 nor a date "
                "and time"
            )
        bad[place] = second is None
        seconds[place] = NO_TIME if second is None else second
    return seconds, bad
