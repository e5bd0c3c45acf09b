"""What can go wrong, as exceptions.

Every exception of this package is a `DpmfError` with the library's code, what happened and,
usually, a hint: the one thing that would fix it. Each is also the built-in exception that stands
for the same kind of mistake, so that ``except ValueError`` or ``except FileNotFoundError`` catch
what one would expect.
"""

from __future__ import annotations

import contextlib
import errno
import sys
import warnings
from pathlib import Path
from typing import Any, Iterator, Optional

from ._native import ffi, lib

__all__ = [
    "BudgetExceeded",
    "Cancelled",
    "DpmfError",
    "DpmfWarning",
    "FileError",
    "InputError",
    "KindError",
    "LedgerError",
    "MissingFileError",
    "ModelError",
    "NoMemoryError",
    "NotFittedError",
    "NotVerified",
    "PrivacyError",
    "PrivacyRefused",
    "PrivacyWarning",
    "TrainingError",
    "UnknownIdError",
    "UsageError",
]


class DpmfError(Exception):
    """Something that the library could not do.

    >>> import dpmf
    >>> try:
    ...     dpmf.load("no-such-file.safetensors")
    ... except dpmf.DpmfError as error:
    ...     print(error.code_name, "|", error.file)
    DPMF_ERR_IO_MISSING | no-such-file.safetensors
    """

    code: int  #: of enum dpmf_code, below 0; 0 where the program said it (`serve`, `export_web`)
    message: str  #: what happened
    hint: str  #: what to do about it; may be empty
    file: str  #: the file it is about; empty when there is none
    line: int  #: the place in it, from 1; 0 when there is none
    column: int  #: in bytes, from 1

    def __init__(self, code: int, message: str = "", hint: str = "", file: str = "",
                 line: int = 0, column: int = 0) -> None:
        super().__init__(code, message, hint, file, line, column)
        self.code = code
        self.message = message or _text(lib.dpmf_error_sentence(code))
        self.hint = hint
        self.file = file
        self.line = line
        self.column = column

    @property
    def code_name(self) -> str:
        """The code's name, such as ``DPMF_ERR_IO_MISSING``."""
        return _text(lib.dpmf_error_name(self.code)) if self.code else ""

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}" + (f":{self.column}" if self.column else "")
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}\n  {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message, self.hint, self.file, self.line, self.column)


class NoMemoryError(DpmfError, MemoryError):
    """There was not enough memory."""


class Cancelled(DpmfError):
    """The run was ended from outside."""


class UsageError(DpmfError, ValueError):
    """A parameter makes no sense, or does not go with another one."""


class NotFittedError(UsageError, AttributeError):
    """The model has not been fitted or loaded yet."""


class FileError(DpmfError, OSError):
    """A file cannot be read or written."""

    def __init__(self, *arguments: Any) -> None:
        DpmfError.__init__(self, *arguments)
        self.filename = self.file or None
        self.strerror = self.message


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class InputError(DpmfError, ValueError):
    """The ratings are not what they should be."""


class ModelError(DpmfError, ValueError):
    """A file is not a model, or is damaged."""


class KindError(ModelError, AttributeError):
    """What was asked for is not in a model of this kind: a release has no users."""


class UnknownIdError(DpmfError, KeyError):
    """The model does not know this user or item."""


class TrainingError(DpmfError, ArithmeticError):
    """Training failed, for example because it diverged."""


class PrivacyError(DpmfError):
    """Something about the promise of a private release."""


class PrivacyRefused(PrivacyError):
    """Refused, because what was asked for would not be private."""


class BudgetExceeded(PrivacyRefused):
    """The population's budget does not allow this release."""


class NotVerified(PrivacyError):
    """A release's statement about itself does not hold."""


class LedgerError(PrivacyError):
    """The ledger of what was spent is damaged, old or in use."""


class DpmfWarning(UserWarning):
    """Something to know that is not an error."""


class PrivacyWarning(DpmfWarning):
    """The same, about the promise of a private release."""


# The first that fits: a code, or the hundreds of several.
_CLASSES: dict[int, type[DpmfError]] = {
    lib.DPMF_ERR_BASE_NO_MEMORY: NoMemoryError,
    lib.DPMF_ERR_BASE_CANCELLED: Cancelled,
    lib.DPMF_ERR_USAGE_MEMORY: UsageError,
    lib.DPMF_ERR_IO_MISSING: MissingFileError,
    lib.DPMF_ERR_MODEL_KIND: KindError,
    lib.DPMF_ERR_MODEL_UNKNOWN_ID: UnknownIdError,
    lib.DPMF_ERR_PRIVACY_REFUSED: PrivacyRefused,
    lib.DPMF_ERR_PRIVACY_BUDGET: BudgetExceeded,
    lib.DPMF_ERR_PRIVACY_NOT_VERIFIED: NotVerified,
    lib.DPMF_ERR_PRIVACY_LEDGER: LedgerError,
    200: UsageError,
    300: FileError,
    400: InputError,
    500: InputError,
    600: InputError,
    700: ModelError,
    800: TrainingError,
    900: PrivacyError,
}

# Settings of the library that have another name here, and tasks that are a function.
_PARAMETERS = {
    "factors": "n_factors",
    "epochs": "n_epochs",
    "reg": "regularization",
    "seed": "random_state",
    "threads": "n_threads",
    "chains": "n_chains",
    "samples": "n_samples",
    "burn-in": "burn_in",
    "user-column": "user",
    "item-column": "item",
    "rating-column": "rating",
    "time-column": "time",
}
_TASKS = {"ledger init FILE": "dpmf.init_ledger(FILE)", "ledger show": "dpmf.read_ledger()"}


def _text(chars: Any) -> str:
    return "" if chars == ffi.NULL else str(ffi.string(chars).decode("utf-8", "replace"))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value(text: str) -> str:
    """A value as one would write it in a call: ``5``, ``(1, 5)`` for 1:5, or ``"2GiB"``."""
    parts = text.split(":")
    if len(parts) <= 2 and all(map(_is_number, parts)):
        return text if len(parts) == 1 else f"({parts[0]}, {parts[1]})"
    return f'"{text}"'


def _setting(name: str, value: Optional[str]) -> str:
    if name.startswith(":"):
        task = name[1:] + (f" {value}" if value else "")
        return _TASKS.get(task, f'the command "dpmf {task}"')
    return f"{_PARAMETERS.get(name, name.replace('-', '_'))}=" + (_value(value) if value else "")


@ffi.def_extern()
def dpmf_py_setting(_self: Any, name: Any, value: Any, text: Any, size: int) -> int:
    """Called by the library for each setting that a text of its own names."""
    written = _setting(_text(name), _text(value) or None).encode()
    kept = written[:size - 1] if size else b""
    ffi.memmove(text, kept + b"\0", len(kept) + 1 if size else 0)
    return len(written)


def rendered(text: Any) -> str:
    """A message, hint or warning of the library, with settings as parameters."""
    room = 4 * lib.DPMF_ERROR_TEXT_MAX
    out = ffi.new("char[]", room)
    lib.dpmf_error_text(text, lib.dpmf_py_setting, ffi.NULL, out, room)
    return _text(out)


def class_of(code: int) -> type[DpmfError]:
    """The exception that stands for a code."""
    return _CLASSES.get(code) or _CLASSES.get(-code // 100 * 100) or DpmfError


def new_error() -> Any:
    """A struct dpmf_error for a call."""
    return ffi.new("struct dpmf_error *")


def check(code: int, error: Any, names: dict[str, str] | None = None) -> int:
    """Raises what a call returned, if that is an error.

    `names` are files that have another name for people."""
    if code >= 0:
        return code
    file = str(ffi.string(error.file).decode("utf-8", "surrogateescape"))
    raise class_of(code)(code, rendered(error.message), rendered(error.hint),
                         (names or {}).get(file, file), error.line, error.column)


_SYSTEM_CODES: dict[Optional[int], int] = {
    errno.ENOENT: lib.DPMF_ERR_IO_MISSING,
    errno.EACCES: lib.DPMF_ERR_IO_PERMISSION,
    errno.EPERM: lib.DPMF_ERR_IO_PERMISSION,
    errno.EROFS: lib.DPMF_ERR_IO_PERMISSION,
    errno.EISDIR: lib.DPMF_ERR_IO_DIRECTORY,
    errno.ENOSPC: lib.DPMF_ERR_IO_NO_SPACE,
    errno.EDQUOT: lib.DPMF_ERR_IO_NO_SPACE,
}


@contextlib.contextmanager
def told(doing: str, name: str, code: int) -> Iterator[None]:
    """Errors of the system in here are exceptions of this package, about a file that people
    know."""
    try:
        yield
    except DpmfError:
        raise
    except OSError as error:
        code = _SYSTEM_CODES.get(error.errno, code)
        why = (error.strerror or str(error)).lower()
        failure = class_of(code)(code, f"cannot {doing}: {why}", "", name)
        failure.errno = error.errno  # type: ignore[attr-defined]
        raise failure from None


def warn(message: str, category: type[DpmfWarning] = DpmfWarning) -> None:
    """A warning that names the line that called this package, however deep it comes from."""
    home, level, frame = str(Path(__file__).parent), 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(home) and frame.f_back:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def usage(message: str, hint: str = "") -> UsageError:
    """A mistake that is found before the library is asked."""
    return UsageError(lib.DPMF_ERR_USAGE_VALUE, message, hint)
