"""Rows of candidates: a user, an item that the user is known to want, and other items. The wanted
one is ranked among the others, as ``dpmf evaluate --candidates`` does it."""

from __future__ import annotations

from typing import Any, Optional

from ._ids import id_bytes, refuse_id
from ._native import ffi, lib
from ._run import Run
from ._values import is_path, path_bytes, plain
from .errors import check, new_error, usage

FOUND = ("rows", "unknown_users", "unknown_items", "fitted_users", "unknown_others", "alone",
         "in_history", "hr", "ndcg", "mrr")


class Candidates:
    """The rows of a table, or of a sequence of sequences of ids."""

    def __init__(self, rows: Any, run: Run) -> None:
        self.has_header = False
        self.failure: Optional[BaseException] = None
        made, error = ffi.new("struct dpmf_candidates **"), new_error()
        check(lib.dpmf_candidates_new(made, error), error)
        self.pointer = ffi.gc(made[0], lib.dpmf_candidates_free)
        if is_path(rows):
            self._read(path_bytes(rows), run)
        else:
            self._take(rows)

    def _read(self, path: bytes, run: Run) -> None:
        handle = ffi.new_handle(self)
        try:
            run.call(lib.dpmf_table_read_whole, path, run.pointer, lib.dpmf_py_candidates, handle)
        finally:
            if self.failure:
                raise self.failure

    def add(self, row: Any, error: Any) -> int:
        if self.has_header:
            return int(lib.dpmf_candidates_add(self.pointer, row, error))
        role = lib.dpmf_table_column_role(row.field[0].text, row.field[0].length)
        if role == ffi.NULL or ffi.string(role) != b"user":
            raise usage("the first row of the candidates does not name the columns",
                        "begin with a line such as user,item,negatives")
        for place in range(1, row.n):
            role = lib.dpmf_table_column_role(row.field[place].text, row.field[place].length)
            if role != ffi.NULL and ffi.string(role) in (b"rating", b"timestamp"):
                raise usage("these are ratings, not candidates",
                            "begin with a line such as user,item,negatives")
        self.has_header = True
        return 0

    def _take(self, rows: Any) -> None:
        error = new_error()
        try:
            rows = [list(row) if not isinstance(row, (str, bytes)) else None for row in rows]
        except TypeError:
            rows = [None]
        for number, row in enumerate(rows, 1):
            if row is None:
                raise usage("candidates are rows of ids, or a file of them",
                            "a row is [user, wanted item, other item, ...]")
            texts = []
            for value in row:
                data = id_bytes(value)
                if data is None:
                    raise refuse_id("candidates", value)
                texts.append(data)
            kept = [ffi.new("char[]", text) for text in texts]
            fields = ffi.new("struct dpmf_field[]", len(kept))
            for place, text in enumerate(kept):
                fields[place].text = text
                fields[place].length = len(texts[place])
                fields[place].column = place + 1
            name = ffi.new("char[]", b"candidates")
            record = ffi.new("struct dpmf_table_record *",
                             {"file": name, "line": number, "field": fields, "n": len(kept)})
            check(lib.dpmf_candidates_add(self.pointer, record, error), error)


@ffi.def_extern()
def dpmf_py_candidates(handle: Any, row: Any, error: Any) -> int:
    candidates: Candidates = ffi.from_handle(handle)
    try:
        return candidates.add(row, error)
    except BaseException as failure:
        candidates.failure = failure
        return 1


def rank_candidates(model: Any, rows: Any, history: Any, order: Any, n: int,
                    run: Run) -> dict[str, Any]:
    candidates = Candidates(rows, run)
    found = ffi.new("struct dpmf_candidates_evaluation *")
    run.call(lib.dpmf_model_rank_candidates, model, candidates.pointer, history, order, n,
             run.pointer, found)
    return plain(found[0], FOUND)
