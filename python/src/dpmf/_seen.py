"""Lists for users of a checkpoint, and what each of them has rated, which is left out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._ids import pointer
from ._native import ffi, lib
from ._run import Run
from .errors import check, new_error
from .user import OWN, Recommendations, Shelf, bits

if TYPE_CHECKING:
    from ._fit import Fitted
    from ._ratings import Store


def recommend_known(shelf: Shelf, number: int, own: Any, order: Any, n: int, without: Any,
               within: Any) -> Recommendations:
    """The list of a user of the model, with what they have rated or (None) without."""
    scored, error, model = shelf.room(n), new_error(), shelf.file.model
    room = pointer("struct dpmf_scored_item *", scored)
    if own is None:
        count = lib.dpmf_model_recommend(model, number, order, bits(without), bits(within),
                                         len(scored), room, error)
    else:
        made = ffi.new("struct dpmf_user **")
        check(lib.dpmf_user_known(model, number, pointer("struct dpmf_own_rating *", own), len(own),
                                  made, error), error)
        user = ffi.gc(made[0], lib.dpmf_user_free)
        count = lib.dpmf_user_recommend(model, user, order, bits(without), bits(within),
                                        len(scored), room, error)
    return shelf.ranked(scored[:check(count, error)])


class SeenBefore:
    """What each user has rated, of a model that was continued: before, and since. Its rows from
    before are numbered as they were."""

    def __init__(self, before: Any, n_before: int, since: Any) -> None:
        self._before, self._n_before, self._since = before, n_before, since

    def __getitem__(self, user: int) -> npt.NDArray[Any]:
        since: npt.NDArray[Any] = self._since[user]
        if user >= self._n_before:
            return since
        before = self._before[user]
        return np.concatenate([before[~np.isin(before["item"], since["item"])], since])


class Seen:
    """What each user has rated."""

    def __init__(self, fitted: Fitted, store: Store, run: Run) -> None:
        made = ffi.new("struct native_seen **")
        run.call(lib.native_seen_make, fitted.file.model, store.pointer, run.pointer, made)
        self._seen = ffi.gc(made[0], lib.native_seen_free)
        self._items = np.frombuffer(ffi.buffer(self._seen.items, 4 * self._seen.n + 4),
                                    dtype=np.uint32)
        self._ratings = np.frombuffer(ffi.buffer(self._seen.ratings, 8 * self._seen.n + 8),
                                      dtype=np.float64)

    def __getitem__(self, user: int) -> npt.NDArray[Any]:
        start, count = self._seen.start[user], self._seen.count[user]
        own = np.empty(count, dtype=OWN)
        own["item"] = self._items[start:start + count]
        own["rating"] = self._ratings[start:start + count]
        return own
