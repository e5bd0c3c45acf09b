"""The ledger of what private releases have spent: making one, and budgets as people write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Union

from ._native import ffi, lib
from ._values import number, path_bytes, text_bytes
from .errors import check, new_error


def budget(value: Union[float, str], accept_epsilon: bool = False) -> Any:
    """A mu, or an epsilon at a delta as in "5@1e-5", for the library; a large one if that is accepted."""
    text = value if isinstance(value, str) else repr(float(number("ledger_budget", value)))
    read = ffi.new("struct dpmf_budget *")
    error = new_error()
    check(lib.dpmf_budget_parse(text_bytes("ledger_budget", text), accept_epsilon, read, error), error)
    return read


def init_ledger(path: Union[str, Path, None] = None) -> None:
    """Makes an empty ledger, for the releases to come.

    A ledger at a path of its own is made by this alone: a path that is mistyped must not begin a second
    one that knows nothing of the first. The one in the usual place (None) is also made by the first
    release. One that is there already is refused, unless it came without its lock file, as from
    another machine: then it is accepted as the newest copy.
    """
    error = new_error()
    check(lib.dpmf_ledger_init(ffi.NULL if path is None else path_bytes(path), ffi.NULL, error), error)
