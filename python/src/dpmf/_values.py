"""Parameters, checked before the library sees them."""

from __future__ import annotations

import os
from typing import Any, Optional

import numpy as np

from ._native import ffi, lib
from .errors import UsageError, usage

# whole numbers with more have so many digits that Python can refuse to write them
WHOLE_BITS = 2048


def is_writable(value: int) -> bool:
    """Whether this whole number has digits under every limit that Python can be set to."""
    return value.bit_length() <= WHOLE_BITS


def shown(value: Any) -> str:
    """A parameter in a message: a short text or a number as it is, and of anything else only its
    type, because tables, lists and dicts hold people's data."""
    if isinstance(value, int) and not is_writable(value):
        return f"<int of {value.bit_length()} bits>"
    if value is None or isinstance(value, (bool, int, float, str, bytes, os.PathLike, np.number)):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:56]}..."
    if isinstance(value, tuple) and len(value) == 2 and all(map(_is_scalar, value)):
        return f"({shown(value[0])}, {shown(value[1])})"
    if callable(value) and hasattr(value, "__name__"):
        return f"<{value.__name__}>"
    table: Any = value
    try:
        return f"<{type(value).__name__} of {len(table)}>"
    except TypeError:
        return f"<{type(value).__name__}>"


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.number))


def whole(name: str, value: Any, low: int, high: int) -> int:
    """A whole number within bounds."""
    try:
        result = int(value)
    except (TypeError, ValueError, OverflowError):
        raise usage(f"{name}={shown(value)} is not a whole number") from None
    if isinstance(value, (str, bytes, bool)) or result != value or not low <= result <= high:
        raise usage(f"{name}={shown(value)} is not a whole number from {low} to {high}")
    return result


def float_of(value: Any) -> Optional[float]:
    """A number as a float; None for anything else. Python's own error would repeat the value, so
    nothing is raised."""
    if isinstance(value, (str, bytes, bool)):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def number(name: str, value: Any) -> float:
    """Any number; what it must be is for the library to say."""
    result = float_of(value)
    if result is None:
        raise usage(f"{name}={shown(value)} is not a number")
    return result


def flag(name: str, value: Any) -> bool:
    """True or False: a text such as "no" must not count as yes."""
    if not isinstance(value, (bool, np.bool_)):
        raise usage(f"{name}={shown(value)} is not True or False")
    return bool(value)


def pair(name: str, value: Any) -> tuple[float, float]:
    """The ends of a range."""
    try:
        low, high = value
    except (TypeError, ValueError):
        raise usage(f"{name}={shown(value)} is not a pair of numbers",
                    f"for example: {name}=(1, 5)") from None
    return number(name, low), number(name, high)


def memory_bytes(memory: Any) -> int:
    """2_000_000_000, "2GB" or "1.5GiB"; None is 0, which leaves it to the library."""
    if memory is None:
        return 0
    if not isinstance(memory, str):
        return whole("memory", memory, 1, 2**63)
    size = ffi.new("uint64_t *")
    if lib.dpmf_parse_size(text_bytes("memory", memory), size) != 0:
        raise usage(f"memory={shown(memory)} is not a size", 'for example: memory="2GiB"')
    return int(size[0])


def encoded(text: str) -> Optional[bytes]:
    """The bytes of a text; None for half of a surrogate pair, which none stand for."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None


def text_bytes(name: str, value: Any) -> bytes:
    """A text for the library, where it ends at the first NUL."""
    if not isinstance(value, str):
        raise usage(f"{name}={shown(value)} is not a text")
    data = encoded(value)
    if data is None:
        raise usage(f"{name}={shown(value)} is not text: it has half of a surrogate pair")
    if b"\0" in data:
        raise usage(f"{name}={shown(value)} has a NUL in it")
    return data


def path_bytes(path: Any) -> bytes:
    """The name of a file; a TypeError for a type that cannot name one."""
    try:
        data = os.fsencode(path)
    except UnicodeEncodeError:
        raise usage(f"{path!r:.60} names no file: it has half of a surrogate pair") from None
    if not data or b"\0" in data:
        raise usage(f"{path!r:.60} names no file: it {'has a NUL in it' if data else 'is empty'}")
    return data


def is_path(value: Any) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))


def refuse_given(parameters: dict[str, Any], defaults: dict[str, Any], names: tuple[str, ...],
                 why: str) -> None:
    """Refuses parameters that have no meaning here."""
    for name in names:
        given, default = parameters[name], defaults[name]
        if given is not default and not (default is not None and given == default):
            raise UsageError(lib.DPMF_ERR_USAGE_CONFLICT, f"{name} {why}")


class Struct:
    """An option struct of the library, with the texts that it points to."""

    def __init__(self, name: str) -> None:
        self.pointer = ffi.new(f"struct {name} *")
        getattr(lib, f"{name}_init")(self.pointer, ffi.sizeof(f"struct {name}"))
        self._texts: list[Any] = []

    def put(self, name: str, value: Any) -> None:
        """Sets a field; bytes are kept as a C string for as long as this object lives."""
        if isinstance(value, bytes):
            self._texts.append(ffi.new("char[]", value))
            value = self._texts[-1]
        setattr(self.pointer, name, value)


def plain(report: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Fields of a struct as values of Python."""
    values = {}
    for name in names:
        value = getattr(report, name)
        if isinstance(value, ffi.CData):
            value = "" if value == ffi.NULL else ffi.string(value).decode("utf-8", "replace")
        values[name] = value
    return values
