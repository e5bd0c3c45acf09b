"""Arrow tables of any library, in and out, by the Arrow PyCapsule interface: without pyarrow.

What has ``__arrow_c_stream__`` or ``__arrow_c_array__`` is read where it is. Nothing here converts
the contents of a table to text: columns hold people's data.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
from typing import Any, Callable, Iterator, NamedTuple, Optional

import numpy as np

from ._native import ffi, lib
from .errors import InputError

_python: Any = ctypes.pythonapi
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

_TEXTS = ("u", "U", "vu", "z", "Z", "vz")


# ---- capsules ----------------------------------------------------------------------------------


def _struct_in(capsule: Any, kind: str, name: bytes) -> Any:
    """What a capsule holds; it must live as long as the struct is used."""
    try:
        return ffi.cast(f"struct {kind} *", _python.PyCapsule_GetPointer(capsule, name))
    except (ValueError, ctypes.ArgumentError):
        raise InputError(lib.DPMF_ERR_INPUT_ARROW, "what was given as Arrow data is no Arrow data",
                         "its library does not follow the Arrow PyCapsule interface") from None


def _capsule(kind: str, name: bytes, fill: Any) -> Any:
    """A capsule with a struct that `fill` fills in; whoever takes it releases it, otherwise the
    capsule does."""
    struct = lib.native_arrow_new(getattr(lib, f"NATIVE_ARROW_{kind}"))
    if struct == ffi.NULL:
        raise MemoryError
    try:
        fill(struct)
    except BaseException:
        lib.native_arrow_free(getattr(lib, f"NATIVE_ARROW_{kind}"), struct)
        raise
    destroy = int(
        ffi.cast("uintptr_t", lib.native_arrow_destructor(getattr(lib, f"NATIVE_ARROW_{kind}"))))
    return _python.PyCapsule_New(int(ffi.cast("uintptr_t", struct)), name, destroy)


# ---- in ----------------------------------------------------------------------------------------


class Field(NamedTuple):
    """A column of a table."""

    name: str
    is_text: bool


def is_lazy(value: Any) -> bool:
    """Whether this is a lazy frame of polars, which is a query until it is collected."""
    return type(value).__name__ == "LazyFrame" and callable(getattr(value, "collect", None))


def _reader_of(value: Any) -> Optional[Callable[[], Any]]:
    """What makes a reader of something that is no table itself: a cursor of ADBC or DuckDB, which
    has the result of a query, or a dataset of pyarrow, which is files."""
    for name in ("fetch_arrow", "fetch_record_batch"):
        fetch = getattr(value, name, None)
        if callable(fetch):
            return fetch  # type: ignore[no-any-return]
    scanner: Any = getattr(value, "scanner", None)
    if callable(scanner) and hasattr(value, "schema"):
        def reader() -> Any:
            made: Any = scanner()
            return made.to_reader()

        return reader
    return None


def is_arrow(value: Any) -> bool:
    """Whether this is a table that is read as Arrow. Frames of pandas are read as arrays, which
    needs no pyarrow."""
    if isinstance(value, type) or hasattr(value, "iloc"):
        return False
    return (hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__") or
            is_lazy(value) or _reader_of(value) is not None)


class _Batches:
    """A stream that is made here, of arrays that come from Python one by one."""

    def __init__(self, schema: Any, arrays: Iterator[Any]) -> None:
        self.schema = schema  # a struct to be given away; or a stream that has it
        self.arrays = arrays
        self.failure: Optional[BaseException] = None
        self.handle = ffi.new_handle(self)
        self.pointer = ffi.new("struct ArrowArrayStream *")
        self.pointer.get_schema = lib.dpmf_py_arrow_schema
        self.pointer.get_next = lib.dpmf_py_arrow_next
        self.pointer.release = lib.dpmf_py_arrow_release
        self.pointer.private_data = self.handle

    def give(self, arrays: Any, out: Any) -> int:
        try:
            array = next(arrays, None)
            if array is None:
                out.release = ffi.NULL
            else:
                ffi.memmove(out, array, ffi.sizeof("struct ArrowArray"))
                array.release = ffi.NULL
            return 0
        except BaseException as failure:
            self.failure = failure
            return errno.EIO

    def give_schema(self, out: Any) -> int:
        return int(lib.native_arrow_schema_copy(self.schema, out))


@ffi.def_extern(error=errno.EIO)
def dpmf_py_arrow_schema(stream: Any, out: Any) -> int:
    batches: _Batches = ffi.from_handle(stream.private_data)
    return batches.give_schema(out)


@ffi.def_extern(error=errno.EIO)
def dpmf_py_arrow_next(stream: Any, out: Any) -> int:
    batches: _Batches = ffi.from_handle(stream.private_data)
    return batches.give(batches.arrays, out)


@ffi.def_extern()
def dpmf_py_arrow_release(stream: Any) -> None:
    stream.release = ffi.NULL


class Table:
    """An Arrow table that was given, open: it can be read once."""

    def __init__(self, value: Any, is_private: bool = False) -> None:
        self._kept: list[Any] = [value]  # whatever the stream may still need
        self._batches: Optional[_Batches] = None
        self.stream = self._opened(value, is_private)
        self.fields = self._fields()

    def _opened(self, value: Any, is_private: bool) -> Any:
        """Its library may run a query here, and say what value it failed on: in a private run that
        is not repeated."""
        try:
            if is_lazy(value):
                return self._of_lazy(value)
            if hasattr(value, "__arrow_c_stream__"):
                return self._of_stream(value)
            if hasattr(value, "__arrow_c_array__"):
                return self._of_array(value)
            reader = _reader_of(value)
            assert reader is not None
            self._kept.append(reader())
            return self._of_stream(self._kept[-1])
        except (InputError, MemoryError):
            raise
        except Exception:
            if not is_private:
                raise
        raise InputError(
            lib.DPMF_ERR_INPUT_ARROW, "the library that has the table could not give it",
            "try to read it there: what it says may be about people, and is not repeated here")

    @property
    def failure(self) -> Optional[BaseException]:
        """What was raised while batches were made."""
        return None if self._batches is None else self._batches.failure

    def _of_stream(self, value: Any) -> Any:
        capsule = value.__arrow_c_stream__()
        self._kept.append(capsule)
        return _struct_in(capsule, "ArrowArrayStream", b"arrow_array_stream")

    def _of_array(self, value: Any) -> Any:
        schema, array = value.__arrow_c_array__()
        self._kept += (schema, array)
        given = _struct_in(schema, "ArrowSchema", b"arrow_schema")
        values = _struct_in(array, "ArrowArray", b"arrow_array")
        self._batches = _Batches(given, iter([values]))
        return self._batches.pointer

    def _of_lazy(self, value: Any) -> Any:
        """In batches where polars can; otherwise all of it is collected first."""
        in_batches: Any = getattr(value, "collect_batches", None)
        frames: Any = in_batches() if callable(in_batches) else [value.collect()]
        iterator = iter(frames)
        first = next(iterator, None)
        if first is None:  # no batch at all: the frame still has a schema
            first = value.collect()
        schema = self._of_stream(first)
        own = ffi.new("struct ArrowSchema *")
        if schema.get_schema(schema, own) != 0:
            raise _refuse_schema()
        self._kept.append(ffi.gc(own, _release_schema))
        self._batches = _Batches(own, _arrays_of(schema, iterator))
        return self._batches.pointer

    def _fields(self) -> list[Field]:
        if self.stream.release == ffi.NULL:
            raise InputError(lib.DPMF_ERR_INPUT_ARROW, "the Arrow stream was read already",
                             "a stream can be read only once: make a new one")
        schema = ffi.new("struct ArrowSchema *")
        if self.stream.get_schema(self.stream, schema) != 0 or schema.release == ffi.NULL:
            raise _refuse_schema()
        try:
            if schema.format == ffi.NULL or ffi.string(schema.format) != b"+s":
                raise InputError(lib.DPMF_ERR_INPUT_COLUMNS,
                                 "a single Arrow column is no table of ratings",
                                 "give users, items and ratings, or a table of them")
            return [_field(schema.children[i]) for i in range(schema.n_children)]
        finally:
            schema.release(schema)


def _refuse_schema() -> InputError:
    return InputError(lib.DPMF_ERR_INPUT_ARROW, "the Arrow stream gives no schema",
                      "the error comes from the program that made the stream: check it there")


def _field(schema: Any) -> Field:
    values = schema if schema.dictionary == ffi.NULL else schema.dictionary
    name = b"" if schema.name == ffi.NULL else ffi.string(schema.name)
    return Field(name.decode("utf-8", "replace"),
                 ffi.string(values.format).decode("utf-8", "replace") in _TEXTS)


def _release_schema(schema: Any) -> None:
    if schema.release != ffi.NULL:
        schema.release(schema)


def _arrays_in(stream: Any) -> Iterator[Any]:
    while True:
        array = ffi.new("struct ArrowArray *")
        if stream.get_next(stream, array) != 0:
            raise OSError(errno.EIO, "a batch could not be read")
        if array.release == ffi.NULL:
            return
        yield array


def _arrays_of(stream: Any, frames: Iterator[Any]) -> Iterator[Any]:
    """The arrays of a first frame's stream, and of the frames that follow."""
    yield from _arrays_in(stream)
    for frame in frames:
        capsule = frame.__arrow_c_stream__()
        yield from _arrays_in(_struct_in(capsule, "ArrowArrayStream", b"arrow_array_stream"))


# ---- out ---------------------------------------------------------------------------------------


class Exported:
    """Columns that any library reads as Arrow: NumPy arrays of numbers (of two dimensions, lists of
    one length), and lists of texts. Subclasses say which in `_arrow_columns`."""

    def _arrow_columns(self) -> dict[str, Any]:
        raise NotImplementedError

    def __arrow_c_schema__(self) -> object:
        columns = _Columns(self._arrow_columns())
        return _capsule("SCHEMA", b"arrow_schema", lambda out: columns.export(out, ffi.NULL))

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The table as one Arrow array of structs, for any library that reads Arrow."""
        columns = _Columns(self._arrow_columns())
        return (_capsule("SCHEMA", b"arrow_schema", lambda out: columns.export(out, ffi.NULL)),
                _capsule("ARRAY", b"arrow_array", lambda out: columns.export(ffi.NULL, out)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as an Arrow stream of one batch, for any library that reads Arrow."""
        columns = _Columns(self._arrow_columns())
        return _capsule("STREAM", b"arrow_array_stream", columns.export_stream)

    def to_arrow(self) -> Any:
        """The table as a pyarrow.Table."""
        return _module("pyarrow").table(_TableOnly(self))

    def to_polars(self) -> Any:
        """The table as a polars.DataFrame."""
        return _module("polars").DataFrame(_TableOnly(self))

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame; a column of vectors becomes one of arrays."""
        columns = {name: list(column) if getattr(column, "ndim", 1) == 2 else column
                   for name, column in self._arrow_columns().items()}
        return _module("pandas").DataFrame(columns)


class _TableOnly:
    """A table and nothing else: libraries would read an object that is also a tuple as a tuple."""

    def __init__(self, table: Exported) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(lib.DPMF_ERR_IO_LIBRARY, f"{name} is not installed",
                         f"pip install {name}") from None


class _Columns:
    """Columns as the native side takes them."""

    _FORMATS = {"int64": b"l", "uint64": b"L", "int32": b"i", "float64": b"g", "float32": b"f"}

    def __init__(self, columns: dict[str, Any]) -> None:
        self._kept: list[Any] = []
        self.n = len(columns)
        self.rows = min((len(column) for column in columns.values()), default=0)
        self.columns = ffi.new("struct native_arrow_column[]", max(self.n, 1))
        for place, (name, column) in enumerate(columns.items()):
            self._fill(self.columns[place], name, column)

    def _keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def _fill(self, out: Any, name: str, column: Any) -> None:
        out.name = self._keep(ffi.new("char[]", name.encode()))
        if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
            values = self._keep(np.ascontiguousarray(column))
            out.format = self._keep(ffi.new("char[]", self._FORMATS[str(values.dtype)]))
            out.width = values.shape[1] if values.ndim == 2 else 0
            out.values = ffi.cast("void *", values.ctypes.data)
            out.value_bytes = values.nbytes
            return
        texts = [text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape")
                 for text in column]
        offsets = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)), out=offsets[1:])
        data = self._keep(b"".join(texts))
        self._keep(offsets)
        # Ids may be any bytes, and Arrow's texts are UTF-8.
        out.format = self._keep(ffi.new("char[]", b"U" if _is_utf8(data) else b"Z"))
        out.values = ffi.cast("void *", offsets.ctypes.data)
        out.value_bytes = offsets.nbytes
        out.data = self._keep(ffi.from_buffer("char[]", data))
        out.data_bytes = len(data)

    def export(self, schema: Any, array: Any) -> None:
        if lib.native_arrow_export(self.columns, self.n, self.rows,
                                   ffi.cast("struct ArrowSchema *", schema),
                                   ffi.cast("struct ArrowArray *", array)) != 0:
            raise MemoryError

    def export_stream(self, stream: Any) -> None:
        if lib.native_arrow_export_stream(self.columns, self.n, self.rows,
                                          ffi.cast("struct ArrowArrayStream *", stream)) != 0:
            raise MemoryError


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False
