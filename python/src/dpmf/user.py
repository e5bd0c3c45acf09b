"""Someone with ratings of their own, at home: what a public release is for."""

from __future__ import annotations

import html
import os
import threading
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._arrow import Exported
from ._ids import Id, Ids, pointer
from ._file import ModelFile
from ._frames import is_column
from ._native import ffi, lib
from ._records import first_of, ratings_of
from ._values import is_path, shown
from .errors import InputError, PrivacyRefused, UnknownIdError, check, new_error, usage, warn
from .history import Titles, read_history

Ratings = Union[Mapping[Any, float], Tuple[Any, Any], Sequence[Any], str, "os.PathLike[str]"]
FloatArray = npt.NDArray[np.float64]

_SCORED = np.dtype([("item", np.uint64), ("score", np.float64)], align=True)
OWN = np.dtype([("item", np.uint64), ("rating", np.float64)], align=True)
_LARGEST = float(np.finfo(np.float32).max)  # of a rating: models are made of floats
COUNT_MAX = 2.0**53 - 1  # of an event


class _Ranked(NamedTuple):
    items: npt.NDArray[Any]
    scores: FloatArray


class Recommendations(_Ranked, Exported):
    """Items, the best first, and their scores: ``items, scores = model.recommend(...)``.

    Also a table for other libraries, with columns `item`, `score` and `rank`: `to_pandas`,
    `to_polars`, `to_arrow`, and whatever takes an object with ``__arrow_c_stream__``. A notebook
    shows it as a table.
    """

    def _arrow_columns(self) -> dict[str, Any]:
        return {"item": self.items, "score": self.scores,
                "rank": np.arange(1, len(self.items) + 1, dtype=np.int64)}

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{rank}</td><td>{html.escape(str(item))}</td><td>{score:.4g}</td></tr>"
            for rank, (item, score) in enumerate(zip(self.items, self.scores), 1))
        return ("<table><thead><tr><th></th><th>item</th><th>score</th></tr></thead>"
                f"<tbody>{rows}</tbody></table>")


class Explanation(NamedTuple):
    """Why an item is recommended: its score in three parts, and the ratings that the part of taste
    is due to, those that speak for the item most first.

    ``score == crowd + habit + taste`` and ``taste == shares.sum()``, except for rounding: what
    everyone likes, how someone rates (0 in a model that ranks, where nobody rates), and their own
    taste. `reason` is "taste"; "crowd" where taste adds little to what is popular with nearly
    everyone; or "neither". `prediction` is the predicted rating, not clamped; in a model that
    ranks, the score.
    """

    prediction: float
    score: float
    crowd: float
    habit: float
    taste: float
    reason: str
    items: npt.NDArray[Any]
    shares: FloatArray


def order_of(taste: Optional[float], by: Optional[str]) -> Any:
    """What lists are ordered by, as the library takes it: NULL for the default."""
    if taste is None and by is None:
        return ffi.NULL
    if by not in (None, "score", "rating"):
        raise usage(f"by={shown(by)} is not an order", 'give by="score" or by="rating"')
    order = ffi.new("struct dpmf_order *", lib.dpmf_order_default())
    order.by_rating = by == "rating"
    if taste is None:
        return order
    if by == "rating":
        raise usage('taste is a dial of the score, not of by="rating"')
    try:
        order.taste = float(taste)
    except (TypeError, ValueError, OverflowError):
        raise usage(f"taste={shown(taste)} is not a number", "for example: taste=0.8") from None
    return order


class Shelf:
    """The items of a model, for everything that ranks them: what a model and its users share."""

    def __init__(self, file: ModelFile, items: Ids) -> None:
        self.file = file
        self.items = items

    def find_item(self, item: Id) -> int:
        found = self.items.find_one(item)
        if found < 0:
            raise UnknownIdError(lib.DPMF_ERR_MODEL_UNKNOWN_ID,
                                 f"the model does not know item {shown(item)}",
                                 "ids are compared with those it was fitted on: see items_")
        return found

    def bitmap(self, numbers: Any) -> npt.NDArray[np.uint8]:
        """A bit for each item, set for these."""
        count = self.file.count("item")
        mask = np.zeros(count, dtype=bool)
        mask[numbers] = True
        packed = np.zeros(count // 8 + 1, dtype=np.uint8)
        bits = np.packbits(mask, bitorder="little")
        packed[:len(bits)] = bits
        return packed

    def known(self, ids: Any, what: str) -> npt.NDArray[np.int64]:
        """The numbers of those that the model knows; there is a warning about the others."""
        numbers = self.items.find(ids, in_any_order=True)
        missing = int((numbers < 0).sum())
        if missing:
            warn(f"the model does not know {missing} of {len(numbers)} items of {what}")
        return numbers[numbers >= 0]

    def choice(self, seen: Any, include: Any, exclude: Any) -> tuple[Any, Any]:
        """Bitmaps (or None) of what is left out and of what may be there."""
        left_out = [np.asarray(seen, dtype=np.int64)] if seen is not None else []
        if exclude is not None:
            left_out.append(self.known(exclude, "exclude"))
        without = self.bitmap(np.concatenate(left_out)) if left_out else None
        within = self.bitmap(self.known(include, "include")) if include is not None else None
        return without, within

    def room(self, n: int) -> npt.NDArray[Any]:
        try:
            is_count = not isinstance(n, bool) and int(n) == n and n >= 1
        except (TypeError, ValueError, OverflowError):
            is_count = False
        if not is_count:
            raise usage(f"n={shown(n)} is not a number of items", "for example: n=10")
        return np.empty(min(int(n), self.file.count("item")), dtype=_SCORED)

    def ranked(self, scored: npt.NDArray[Any]) -> Recommendations:
        return Recommendations(self.items.array[scored["item"].astype(np.int64)],
                               np.ascontiguousarray(scored["score"]))


def bits(bitmap: Any) -> Any:
    return ffi.NULL if bitmap is None else pointer("uint8_t *", bitmap)


def clip_to_scale(file: ModelFile, predictions: FloatArray) -> FloatArray:
    return np.clip(predictions, file.info.min, file.info.max, out=predictions)


def warn_unknown(n: int, what: str) -> None:
    if n:
        warn(f"{n} {what}{'s' if n > 1 else ''} that the model does not know: predicted from "
             "averages")


def own_ratings(shelf: Shelf, ratings: Ratings) -> npt.NDArray[Any]:
    """Someone's ratings in the library's form, every item once."""
    if isinstance(ratings, Mapping):
        ids: Any = list(ratings.keys())
        values: Any = list(ratings.values())
    elif isinstance(ratings, tuple) and len(ratings) == 2:
        ids, values = ratings
    elif shelf.file.ranks and is_column(ratings):  # items alone are events
        given: Any = ratings
        ids, values = list(given), np.full(len(given), shelf.file.event)
    else:
        raise usage("ratings are a dict of items and ratings, or a pair of arrays",
                    'for example: {"dune": 4.5}, or (items, ratings)')
    counts = bool(shelf.file.info.is_of_events)
    what = "counts" if counts else "ratings"
    numbers_given = ratings_of(values, False, what).astype(np.float64)
    numbers = shelf.items.find(ids)
    if numbers_given.shape != numbers.shape:
        raise InputError(lib.DPMF_ERR_INPUT_COUNT,
                         f"there are {len(numbers)} items and {numbers_given.size} {what}")
    if counts:
        refuse_counts(ids, numbers_given)
    elif not np.isfinite(numbers_given).all():
        raise InputError(lib.DPMF_ERR_INPUT_NOT_FINITE, "a rating is not finite")
    known = numbers >= 0
    records = "events" if counts else "ratings"
    if len(numbers) and not known.any():
        warn(f"there is no {records[:-1]} of an item that the model knows: the items are those "
             "liked best by all")
    elif not known.all():
        warn(
            f"passed over {int((~known).sum())} of {len(numbers)} {records}: of items that the "
            "model does not know")
    own = np.empty(int(known.sum()), dtype=OWN)
    own["item"] = numbers[known]
    own["rating"] = numbers_given[known]
    if (np.abs(own["rating"]) > _LARGEST).any():
        raise InputError(lib.DPMF_ERR_INPUT_NOT_FINITE, "a rating is too large")
    own = _each_once(shelf.file, own)
    warn_off_scale(shelf.file, own["rating"])
    return own


def refuse_counts(ids: Any, counts: FloatArray) -> None:
    """Refuses what cannot be how often something happened."""
    bad = ~((counts >= 1) & (counts <= COUNT_MAX) & (counts == np.floor(counts)))
    if bad.any():
        place = first_of(bad)
        raise InputError(lib.DPMF_ERR_INPUT_OUT_OF_RANGE,
                         f"the count {counts[place]:.16g} of item {shown(list(ids)[place])} is not "
                         "a whole number from 1 to 2**53 - 1",
                         "an event happens at least once: leave the others out")


def _each_once(file: ModelFile, own: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Every item once, where it is last: its last rating or, of events, how often it occurs in
    all."""
    last = dict(zip(own["item"].tolist(), range(len(own))))
    again = len(own) - len(last)
    if not again:
        return own
    if file.info.is_of_events:
        counts = np.zeros(int(own["item"].max()) + 1)
        np.add.at(counts, own["item"], own["rating"])
        own["rating"] = np.minimum(counts[own["item"]], COUNT_MAX)
        warn(f"repeated events of an item: {again}; their counts were added")
    else:
        warn(f"ratings of an item that was rated again: {again}; the last rating counts")
    kept: npt.NDArray[Any] = own[sorted(last.values())]
    return kept


def warn_off_scale(file: ModelFile, ratings: npt.NDArray[np.float64]) -> None:
    if file.ranks:
        return
    low, high = file.info.min, file.info.max
    outside = int(((ratings < low) | (ratings > high)).sum())
    if outside:
        warn(
            f"ratings outside the model's scale, {file.info.min:g} to {file.info.max:g}: "
            f"{outside}; "
            "they are taken as they are")


class User:
    """Someone fitted to ratings of their own: made by `Model.fold_in`, changed by `rate`.

    >>> import dpmf
    >>> users, items = ["ann", "ann", "bob", "bob"], ["dune", "alien", "dune", "solaris"]
    >>> model = dpmf.Model(n_factors=2, n_epochs=3).fit(users, items, [5, 4, 2, 1])
    >>> me = model.fold_in({"dune": 5, "alien": 4})
    >>> me.recommend().items.tolist()
    ['solaris']
    >>> me.rate("solaris", 2).rate("alien", None).ratings
    {'dune': 5.0, 'solaris': 2.0}
    """

    def __init__(self, shelf: Shelf, ratings: Ratings, titles: Optional[Titles] = None) -> None:
        self._shelf = shelf
        self._model = shelf.file.model
        self._lock = threading.RLock()
        self._had = np.empty(0, dtype=np.int64)  # of a history: also what was not rated
        if is_path(ratings):
            history = read_history(shelf, ratings, titles)
            self._had = np.asarray(shelf.items.find(history.seen), dtype=np.int64)
            ratings = history.ratings
        own = own_ratings(shelf, ratings)
        user, error = ffi.new("struct dpmf_user **"), new_error()
        check(lib.dpmf_user_fold_in(self._model, pointer("struct dpmf_own_rating *", own), len(own),
                                    user, error), error)
        self._user = ffi.gc(user[0], lib.dpmf_user_free)

    def rate(self, item: Id, rating: Optional[float]) -> User:
        """Adds a rating, changes it or, with None, removes it. Returns the user."""
        number = self._shelf.find_item(item)
        counts = self._shelf.file.info.is_of_events
        what = "count" if counts else "rating"
        value = float("nan")
        if rating is not None:
            try:
                value = float(rating)
                is_number = not isinstance(rating, (bool, np.bool_))
            except (TypeError, ValueError, OverflowError):
                is_number = False
            if not is_number:
                raise InputError(lib.DPMF_ERR_INPUT_NUMBER,
                                 f"the {what} {shown(rating)} is not a number") from None
            if counts:
                refuse_counts([item], np.array([value], dtype=np.float64))
            elif not abs(value) <= _LARGEST:
                raise InputError(lib.DPMF_ERR_INPUT_NOT_FINITE,
                                 f"the rating {shown(rating)} is not finite")
            warn_off_scale(self._shelf.file, np.array([value], dtype=np.float64))
        error = new_error()
        with self._lock:
            check(lib.dpmf_user_rate(self._model, self._user, number, value, error), error)
        return self

    @property
    def ratings(self) -> dict[Any, float]:
        """The ratings so far, in the order they were given."""
        own = self._own()
        ids = self._shelf.items.array
        return dict(zip(ids[own["item"].astype(np.int64)].tolist(), own["rating"].tolist()))

    def _own(self) -> npt.NDArray[Any]:
        ratings = ffi.new("struct dpmf_own_rating **")
        with self._lock:
            n = lib.dpmf_user_ratings(self._user, ratings)
            if n == 0:
                return np.empty(0, dtype=OWN)
            return np.frombuffer(ffi.buffer(ratings[0], n * OWN.itemsize), dtype=OWN).copy()

    @property
    def bias(self) -> float:
        """How much higher than others the user rates."""
        with self._lock:
            return float(lib.dpmf_user_bias(self._user))

    @property
    def vector(self) -> FloatArray:
        """The user's taste: as many numbers as an item's vector has."""
        k = self._shelf.file.info.factors
        with self._lock:
            vector = lib.dpmf_user_vector(self._user)
            if k == 0:
                return np.empty(0)
            return np.frombuffer(ffi.buffer(vector, 8 * k), dtype=np.float64).copy()

    def recommend(self, n: int = 10, exclude_seen: bool = True, include: Any = None,
                  exclude: Any = None, taste: Optional[float] = None,
                  by: Optional[str] = None) -> Recommendations:
        """The n best items, without those that the user rated. See `Model.recommend`."""
        shelf = self._shelf
        scored, error, order = shelf.room(n), new_error(), order_of(taste, by)
        with self._lock:
            seen = (np.concatenate([self._own()["item"].astype(np.int64), self._had])
                    if exclude_seen else None)
            without, within = shelf.choice(seen, include, exclude)
            count = lib.dpmf_user_recommend(
                self._model, self._user, order, bits(without), bits(within), len(scored),
                pointer("struct dpmf_scored_item *", scored), error)
        check(count, error)
        return shelf.ranked(scored[:count])

    def predict(self, items: Any, clip: bool = True) -> Any:
        """The predicted rating of an item, or of each of several. An item that the model does not
        know counts as average, with a warning."""
        self._shelf.file.refuse_ranking()
        is_one = isinstance(items, (str, bytes)) or np.ndim(items) == 0
        numbers = self._shelf.items.find([items] if is_one else items)
        warn_unknown(int((numbers < 0).sum()), "item")
        predictions = np.empty(len(numbers))
        with self._lock:
            lib.native_user_predict(self._model, self._user, pointer("int64_t *", numbers),
                                    len(numbers), pointer("double *", predictions))
        if clip:
            clip_to_scale(self._shelf.file, predictions)
        return float(predictions[0]) if is_one else predictions

    def explain(self, item: Id, taste: Optional[float] = None,
                by: Optional[str] = None) -> Explanation:
        """Why an item is recommended: the parts of its score, and which ratings speak for it."""
        number = self._shelf.find_item(item)
        score, error = ffi.new("struct dpmf_score *"), new_error()
        with self._lock:
            own = self._own()
            shares = np.zeros(len(own))
            check(lib.dpmf_user_explain(self._model, self._user, order_of(taste, by), number, score,
                                        pointer("double *", shares), error), error)
        order = np.argsort(-shares, kind="stable")
        reasons = {lib.DPMF_REASON_TASTE: "taste", lib.DPMF_REASON_CROWD: "crowd",
                   lib.DPMF_REASON_NEITHER: "neither"}
        prediction = score.total if np.isnan(score.rating) else score.rating
        items = self._shelf.items.array[own["item"].astype(np.int64)[order]]
        return Explanation(float(prediction), float(score.total), float(score.crowd),
                           float(score.habit), float(score.taste), reasons[score.reason], items,
                           shares[order])

    def __reduce__(self) -> Any:
        raise PrivacyRefused(lib.DPMF_ERR_PRIVACY_REFUSED,
                             "not copied or pickled: this contains a person's ratings",
                             "keep user.ratings and pass them to fold_in again")

    def __repr__(self) -> str:
        what = "event" if self._shelf.file.info.is_of_events else "rating"
        n = len(self._own())
        return f"<dpmf.User with {n} {what}{'' if n == 1 else 's'}>"
