"""What is done with existing releases: adding items, and removing them again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Union

from ._native import ffi, lib
from ._run import Run
from ._values import flag, path_bytes
from .errors import check, new_error

PathLike = Union[str, Path]


def extend_release(release: PathLike, catalogue: PathLike, item_features: PathLike,
                   path: PathLike, *, replace: bool = False) -> dict[str, Any]:
    """Adds the new items of `catalogue` to a release, placed by their public features.

    Post-processing of what is public: no epsilon is spent, and no ledger is used. The statement of
    the new release, written to `path`, names its parent. Returns what was done: ``items``,
    ``new_items``, ``known_items``, ``undescribed``, ``features``, ``parent``, ``id`` and ``kind``,
    which is the parent's. A file that is there already needs `replace`.
    """
    run = Run(replace=flag("replace", replace))
    report, error = ffi.new("struct dpmf_extend_report *"), new_error()
    check(
        lib.dpmf_release_extend(path_bytes(release), path_bytes(catalogue),
                                path_bytes(item_features), path_bytes(path), run.pointer, report,
                                error), error)
    counts: dict[str, Any] = {name: int(getattr(report, name)) for name in
                              ("items", "new_items", "known_items", "undescribed", "features")}
    counts["parent"] = ffi.string(report.parent).decode()
    counts["id"] = ffi.string(report.id).decode()
    statement = ffi.new("struct dpmf_statement *")
    check(lib.dpmf_release_statement(path_bytes(path), statement, error), error)
    counts["kind"] = ffi.string(lib.dpmf_claim_name(statement.claim)).decode()
    lib.dpmf_statement_free(statement)
    return counts


def parent_release(release: PathLike, path: PathLike, *, replace: bool = False) -> None:
    """Writes the release that an extended one was made from, byte for byte as it was published. A
    file that is there already needs `replace`."""
    error, run = new_error(), Run(replace=flag("replace", replace))
    check(lib.dpmf_release_parent(path_bytes(release), path_bytes(path), run.pointer, error), error)
