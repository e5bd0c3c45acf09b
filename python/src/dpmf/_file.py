"""An open model and the bytes it was read from.

The bytes are kept as an open file, which need not have a name any more: a checkpoint that was
fitted and never saved is not left behind in any folder.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
import weakref
from pathlib import Path
from typing import Any, Iterator, Optional

import numpy as np
import numpy.typing as npt

from ._native import ffi, lib
from ._run import Run
from ._values import path_bytes
from .errors import FileError, KindError, check, new_error, told, warn
from .statement import PrivacyStatement

PIECE = 1 << 20


class _View:
    """Memory of a model as NumPy sees it. The array keeps this alive, and this the model."""

    def __init__(self, owner: Any, address: int, shape: tuple[int, ...],
                 strides: tuple[int, ...]) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "typestr": "<f4" if np.little_endian else ">f4",
            "data": (address, True),
            "shape": shape,
            "strides": strides,
        }


class ModelFile:
    """A model of the library, read from a file descriptor, which it owns from then on."""

    def __init__(self, fd: int, name: str) -> None:
        self.fd = fd
        self.name = name
        weakref.finalize(self, os.close, fd)
        # By way of the descriptor, so that model and bytes are those of one and the same file.
        self._path = os.fsencode(f"/dev/fd/{fd}")
        model = ffi.new("struct dpmf_model **")
        error = new_error()
        check(lib.dpmf_model_open(self._path, model, error), error, self._names())
        self.model = ffi.gc(model[0], lib.dpmf_model_close)
        self.info = ffi.new("struct dpmf_model_info *")
        lib.dpmf_model_info(self.model, self.info)
        self.is_release = ffi.string(self.info.kind) == b"release"
        self.ranks = ffi.string(self.info.goal) == b"ranking"
        self._statement: Optional[PrivacyStatement] = None
        self.has_features = False
        self.n_rated_users = int(self.info.users)  #: the others are placed by features
        if self.info.is_unchecked:
            warn(f"{name}: written by an older version, without a checksum: damage to it cannot "
                 "be noticed; a model trained again has one")

    def add_features(self, items: Optional[bytes], users: Optional[bytes], run: Any) -> None:
        """Places users and items without ratings, by tables. Before any id is looked at."""
        if items is None and users is None:
            return
        report = ffi.new("struct dpmf_features_report *")
        run.call(lib.dpmf_model_add_features, self.model, ffi.NULL if items is None else items,
                 ffi.NULL if users is None else users, run.pointer, report)
        self.has_features = True
        lib.dpmf_model_info(self.model, self.info)

    def add_facts(self, catalogue: bytes, run: Any) -> None:
        """Kinds and years of a release's items, from a table. Before anyone is fitted."""
        facts = ffi.new("struct dpmf_facts **")
        run.call(lib.dpmf_facts_read, self.model, catalogue, run.pointer, facts)
        try:
            found = lib.dpmf_facts_items(facts[0])
            if found:
                error = new_error()
                check(lib.dpmf_model_set_facts(self.model, found, error), error, self._names())
            else:
                warn("catalogue has neither kinds nor years of the model's items, and nothing of "
                     "it is used: are its ids those of the model?")
        finally:
            lib.dpmf_facts_free(facts[0])

    @property
    def event(self) -> float:
        """The value of an event among ratings that are given to a model that ranks."""
        return float(self.info.like) if np.isfinite(self.info.like) else 1.0

    def refuse_ranking(self) -> None:
        """A model that ranks predicts no ratings."""
        if self.ranks:
            raise KindError(lib.DPMF_ERR_MODEL_KIND,
                            "this model ranks items: its scores are not ratings", "use recommend")

    @classmethod
    def open(cls, path: Any) -> ModelFile:
        name = os.fsdecode(path_bytes(path))
        try:
            fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as failure:
            # The library says it in its own words.
            model, error = ffi.new("struct dpmf_model **"), new_error()
            check(lib.dpmf_model_open(os.fsencode(name), model, error), error)
            lib.dpmf_model_close(model[0])
            with told("open", name, lib.DPMF_ERR_IO_READ):
                raise failure
        return cls(fd, name)

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> ModelFile:
        with told("keep", name, lib.DPMF_ERR_IO_WRITE):
            with tempfile.TemporaryFile() as file:
                file.write(data)
                file.flush()
                fd = os.dup(file.fileno())
        return cls(fd, name)

    def _names(self) -> dict[str, str]:
        return {os.fsdecode(self._path): self.name}

    @property
    def statement(self) -> PrivacyStatement:
        """Of a release: what it promises, checked."""
        if self._statement is None:
            statement, error = ffi.new("struct dpmf_statement *"), new_error()
            check(lib.dpmf_release_statement(self._path, statement, error), error, self._names())
            self._statement = PrivacyStatement.take(statement)
        return self._statement

    @contextlib.contextmanager
    def raw_statement(self) -> Iterator[Any]:
        """A release's statement as the library has it; NULL without one that holds."""
        statement, error = ffi.new("struct dpmf_statement *"), new_error()
        holds = self.is_release and lib.dpmf_release_statement(self._path, statement, error) == 0
        try:
            yield statement if holds else ffi.NULL
        finally:
            if holds:
                lib.dpmf_statement_free(statement)

    # ---- the bytes -----------------------------------------------------------------------------

    def _pieces(self) -> Iterator[bytes]:
        at = 0
        while piece := os.pread(self.fd, PIECE, at):
            yield piece
            at += len(piece)

    def bytes(self) -> bytes:
        return b"".join(self._pieces())

    def save(self, path: Any, replace: bool = False) -> None:
        """Writes a copy, whole or not at all; only its owner can read a file with people's data.
        What may be replaced is decided as for every output of the library."""
        name = os.fsdecode(path_bytes(path))
        with told("write", name, lib.DPMF_ERR_IO_WRITE):
            _check_target(name)
            # What a symbolic link stands for is written, and the link stays.
            target = Path(os.path.realpath(name))
            run, error = Run(replace=replace), new_error()
            check(lib.dpmf_output_check_kind(path_bytes(target), lib.DPMF_FILE_CHECKPOINT,
                                             run.pointer, error), error)
            self._write(target)

    def _write(self, target: Path) -> None:
        temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC,
                     0o666 if self.is_release else 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                for piece in self._pieces():
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink()
            raise

    # ---- the numbers ---------------------------------------------------------------------------

    def _view(self, rows: Any, shape: tuple[int, ...],
              strides: tuple[int, ...]) -> npt.NDArray[np.float32]:
        if rows == ffi.NULL or 0 in shape:
            empty = np.empty(shape, dtype=np.float32)
            empty.flags.writeable = False
            return empty
        return np.asarray(_View(self, int(ffi.cast("uintptr_t", rows)), shape, strides))

    def factors(self, side: str) -> npt.NDArray[np.float32]:
        """The vectors of users or items, in place."""
        stride = ffi.new("size_t *")
        rows = getattr(lib, f"dpmf_model_{side}_factors")(self.model, stride)
        return self._view(rows, (self.count(side), self.info.factors), (4 * stride[0], 4))

    def biases(self, side: str) -> npt.NDArray[np.float32]:
        biases = getattr(lib, f"dpmf_model_{side}_biases")(self.model)
        return self._view(biases, (self.count(side),), (4,))

    def count(self, side: str) -> int:
        return int(self.info.users if side == "user" else self.info.items)


def _is_descriptor(name: str) -> bool:
    """Whether it leads to what a process has open, as /dev/stdout does: behind that is a file whose
    owner goes on writing to it."""
    for _ in range(40):  # as many links as Linux follows
        if not os.path.islink(name):
            break
        folder = os.path.realpath(os.path.dirname(name))
        if folder == "/dev" or folder.startswith("/proc/"):
            return True
        name = os.path.join(folder, os.readlink(name))
    return False


def _check_target(name: str) -> None:
    """A file replaces what is there, but must not replace a device, a pipe or standard output."""
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise FileError(lib.DPMF_ERR_IO_DIRECTORY, "cannot write: is a directory",
                        "give the path of a file", name)
    if not stat.S_ISREG(mode) or _is_descriptor(name):
        raise FileError(lib.DPMF_ERR_IO_WRITE, "a model can only be written to a file",
                        "give the path of a file", name)


class WorkFolder:
    """A folder for the duration of a fit, which nobody else can read."""

    def __enter__(self) -> Path:
        with told("work", "the folder for temporary files", lib.DPMF_ERR_IO_WRITE):
            self._path = Path(tempfile.mkdtemp(prefix="dpmf-"))
        return self._path

    def __exit__(self, *_: Any) -> None:
        shutil.rmtree(self._path, ignore_errors=True)


class UnnamedFiles:
    """Files without a name for the duration of a fit, since they may hold people's data: however
    the process ends, nothing is left of them."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self.names: dict[str, str] = {}  #: what people call them, by path

    def __enter__(self) -> UnnamedFiles:
        return self

    def __exit__(self, *_: Any) -> None:
        self._open.close()

    def add(self, name: str) -> Path:
        """An empty one. @return by which path it can be opened, to write and to read"""
        with told("keep", name, lib.DPMF_ERR_IO_WRITE):
            file = self._open.enter_context(tempfile.TemporaryFile())
        path = Path(f"/dev/fd/{file.fileno()}")
        self.names[str(path)] = name
        return path
