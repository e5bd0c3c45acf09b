"""Tables with named columns, of any library: how they are distinguished from lists, and how their
columns are found.

A frame is known by what it offers, not by its type, and nothing here converts its contents to text:
columns hold people's data.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from ._arrow import is_lazy
from ._native import ffi, lib
from .errors import InputError

TIMES = ("time", "timestamp", "date", "datetime")


class Frame(NamedTuple):
    """Columns by their places."""

    names: Sequence[str]
    column: Callable[[int], Any]

    def places(self, role: str) -> list[int]:
        """The columns whose name stands for this role: "user", "item", "rating", "time", ..."""
        return [place for place, name in enumerate(self.names) if role_of(name) == role]


def role_of(name: str) -> str:
    """What a column of this name is for, by the rules for headers of files."""
    text = name.encode("utf-8", "replace")
    role = lib.dpmf_table_column_role(text, len(text))
    if role != ffi.NULL:
        return str(ffi.string(role).decode())
    return "time" if name.lower() in TIMES else ""


def _name(name: Any) -> str:
    """A column's name; None for anything that is not a name, such as a column itself."""
    return str(name) if isinstance(name, (str, int, np.integer)) else ""


def frame_of(value: Any) -> Optional[Frame]:
    """The named columns of a frame, a table or a structured array; None for anything else."""
    if is_lazy(value):
        return frame_of(_made_of(value, lambda query: query.collect()))
    schema = getattr(value, "schema", None)
    names = getattr(schema, "names", None)
    if names is not None and callable(getattr(value, "column", None)):  # of Arrow
        return Frame(list(map(_name, names)), value.column)
    if hasattr(value, "columns") and hasattr(value, "__getitem__"):  # of pandas, polars and others
        by_place = getattr(value, "iloc", None)
        keys = list(value.columns)

        def column(place: int) -> Any:
            return value[keys[place]] if by_place is None else by_place[:, place]

        return Frame(list(map(_name, keys)), column)
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names:  # a structured array of NumPy
        return Frame(names, lambda place: value[names[place]])
    return _by_protocol(value)


def _by_protocol(value: Any) -> Optional[Frame]:
    """An object that offers only an interchange protocol, read by a library that knows it."""
    if hasattr(value, "__dataframe__"):
        try:
            from pandas.api.interchange import from_dataframe  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise _unreadable(value, "pandas") from None
        return frame_of(_made_of(value, from_dataframe))
    if hasattr(value, "__arrow_c_stream__") and not _is_series(value):
        try:
            import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise _unreadable(value, "pyarrow") from None
        table = _made_of(value, pyarrow.table)
        if _made_of(value, pyarrow.table).num_rows != table.num_rows:
            raise InputError(
                lib.DPMF_ERR_INPUT_ARROW,
                f"a {type(value).__name__} can be read only once, and would be empty in the next "
                "fit",
                "give the table that is in it, such as reader.read_all()")
        return frame_of(table)
    return None


def _is_series(value: Any) -> bool:
    """One column, as series of pandas and polars and arrays of Arrow are, which offer Arrow data
    too."""
    return (len(getattr(value, "shape", (0, 0))) == 1 or
            (hasattr(value, "to_pylist") and not hasattr(value, "schema")))


def _made_of(value: Any, make: Callable[[Any], Any]) -> Any:
    """What another library makes of it. Its error messages may be about people, and are not
    repeated."""
    try:
        return make(value)
    except MemoryError:
        raise
    except Exception:
        made = None
    if made is None:  # outside, so that nothing hangs on what is raised
        raise InputError(lib.DPMF_ERR_INPUT_ARROW,
                         f"a {type(value).__name__} cannot be read as a table",
                         "try to read it with its own library")


def _unreadable(value: Any, wanted: str) -> InputError:
    return InputError(
        lib.DPMF_ERR_INPUT_COLUMNS,
        f"a {type(value).__name__} cannot be read without {wanted}, which is not installed",
        "give its columns one by one, as arrays or lists")


def is_column(value: Any) -> bool:
    """Whether this is a list of values, as columns of a table are. A number of NumPy is none, nor
    is an array without dimensions."""
    if isinstance(value, (list, tuple, range)):
        return True
    return ((hasattr(value, "__array__") or hasattr(value, "to_pylist")) and
            getattr(value, "ndim", 1) != 0)


def frame_of_dict(value: Mapping[Any, Any]) -> Optional[Frame]:
    """A dict of columns, by their names; None for a dict of something else."""
    keys = list(value)
    if not keys or not all(isinstance(key, str) and is_column(value[key]) for key in keys):
        return None
    return Frame(keys, lambda place: value[keys[place]])


def check_lengths(what: str, *columns: list[Any]) -> None:
    """Checks the columns of one table; values beyond the shortest column would be lost silently."""
    if len(set(map(len, columns))) > 1:
        raise InputError(
            lib.DPMF_ERR_INPUT_COUNT,
            f"the columns of {what} have "
            f"{' and '.join(map(str, sorted(set(map(len, columns)))))} values: "
            "each row has one of each")


_NARROW = {
    "float16": np.float16, "halffloat": np.float16, "float32": np.float32, "float": np.float32
}


def ids_of(column: Any) -> list[Any]:
    """The values of a column of ids. Floats of less than 64 bits stay what they are: above 2^24 one
    of 32 bits stands for several whole numbers, which nobody sees in a float of Python."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    narrow = _NARROW.get(kind.removesuffix("[pyarrow]"))
    if narrow is None:
        return values_of(column)
    return [narrow(value) if isinstance(value, float) else value for value in values_of(column)]


def values_of(column: Any) -> list[Any]:
    """The values of a column, as Python has them. Times are refused: NumPy makes whole numbers of
    some of them, which would be ids."""
    if getattr(getattr(column, "dtype", None), "kind", "") in ("m", "M"):
        raise InputError(lib.DPMF_ERR_INPUT_ID, "a column of times holds neither ids nor features",
                         "give texts or numbers, such as column.astype(str)")
    for name in ("to_pylist", "tolist", "to_list"):  # of Arrow, of NumPy and pandas, of polars
        convert = getattr(column, name, None)
        if callable(convert):
            values = convert()
            return values if isinstance(values, list) else [values]
    return list(column)
