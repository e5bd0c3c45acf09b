"""Rows of candidates: a user, an item that the user is known to want, and other items. The wanted
one is ranked among the others, as ``dpmf evaluate --candidates`` does it."""

from __future__ import annotations

from typing import Any

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
        made, error = ffi.new("struct dpmf_candidates **"), new_error()
        check(lib.dpmf_candidates_new(made, error), error)
        self.pointer = ffi.gc(made[0], lib.dpmf_candidates_free)
        if is_path(rows):
            run.call(lib.dpmf_candidates_read, self.pointer, path_bytes(rows), run.pointer)
        else:
            self._take(rows)

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


def rank_candidates(model: Any, rows: Any, history: Any, order: Any, n: int,
                    run: Run) -> dict[str, Any]:
    candidates = Candidates(rows, run)
    found = ffi.new("struct dpmf_candidates_evaluation *")
    run.call(lib.dpmf_model_rank_candidates, model, candidates.pointer, history, order, n,
             run.pointer, found)
    return plain(found[0], FOUND)
