"""What a model can do besides fitting and recommending: evaluation, intervals, exports, and what
scikit-learn expects of an estimator."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
import numpy.typing as npt

from ._candidates import rank_candidates
from ._ids import pointer
from ._native import ffi, lib
from ._pairs import pairs_of, r_squared
from ._run import Run
from ._values import Struct, flag, number, path_bytes, plain, shown, whole
from .errors import check, new_error, usage, warn

if TYPE_CHECKING:
    from ._fit import Fitted
    from ._ratings import Store

PART = ("items", "users", "wanted", "recall", "recall_capped", "precision", "ndcg", "map", "mrr",
        "coverage", "list_share")
FORMS = ("npy", "csv", "libmf", "sqlite", "pgvector")


def order_of(taste: Optional[float], by: Optional[str]) -> Any:
    # which imports the files of models, and those this one's users
    from .user import order_of as order

    return order(taste, by)


class Measured:
    """The base of `Model`; it has no parameters of its own."""

    if TYPE_CHECKING:
        _fitted: Fitted
        like: Union[float, str, None]
        n_threads: int

        @property
        def _ready(self) -> Fitted: ...
        @property
        def _with_users(self) -> Fitted: ...
        def _run(self) -> Run: ...
        def _open(self, ratings: Any, run: Run) -> Store: ...
        def _history(self, fitted: Fitted) -> Optional[Store]: ...
        def predict(self, users: Any = None, items: Any = None) -> Any: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    # ---- how well it predicts ------------------------------------------------------------------

    def evaluate(self, test: Any = None, *, history: Any = None,
                 ranking: Optional[int] = None,
                 like: Union[float, str, None] = None, taste: Optional[float] = None,
                 by: Optional[str] = None, candidates: Any = None,
                 n: int = 10) -> dict[str, Any]:
        """How well the model predicts ratings that it was not fitted to, as ``dpmf evaluate``
        measures it.

        `test` and `history` are ratings in any form that `fit` takes (columns as a tuple), or a
        file. `history` is what each user has rated before: it is left out of lists, and users whom
        the model does not know are first fitted to it, as they would be at home (``fitted_users``
        of the result; a release knows nobody). Without it, lists are made with what the model
        remembers, as in `recommend`: what it was fitted to, or the history of `dpmf.load`. Where it
        remembers nothing, or with `history=False`, what users had before stays in the lists, with a
        warning. With `ranking=n` lists of the n best items are measured too, with 0 none; by
        default 10 where the model ranks, and otherwise none. `like` is the smallest test rating
        that counts as wanted (None or "any": all do), `taste` and `by` order the lists as in
        `recommend`. In the result, figures that were not measured are missing, and meaningless ones
        are NaN; ``learned_share`` is about what share of `test` the model was fitted to, which is
        warned of too.

        `candidates` are rows of a user, an item that the user is known to want and other items, or
        a file of them with a header (``user,item,negatives``): the result's ``"candidates"`` says
        how often the wanted one is among the `n` best of its row (``hr``, ``ndcg``, ``mrr``). With
        them, `test` may be left out.

        >>> import dpmf
        >>> model = dpmf.Model(n_factors=2, n_epochs=3)
        >>> model = model.fit(["ann", "ann", "bob"], ["dune", "alien", "dune"], [5, 3, 4])
        >>> found = model.evaluate((["bob"], ["alien"], [3]))
        >>> found["n"], found["rmse"] == found["mae"]
        (1, True)
        >>> found = model.evaluate(candidates=[["bob", "dune", "alien"]], n=2)
        >>> found["candidates"]["rows"], found["candidates"]["hr"]
        (1, 1.0)
        """
        if test is None and candidates is None:
            raise usage("evaluate needs ratings to measure with, or candidates")
        if isinstance(like, str) and like == "any":
            like = None
        if test is None and (ranking or like is not None):
            raise usage("ranking and like are about the items of test, which was not given")
        file, run = self._ready.file, self._run()
        if ranking is None:
            ranking = 10 if test is not None and file.ranks else 0
        options = Struct("dpmf_evaluate_options")
        options.put("ranking", whole("ranking", ranking, 0, 2**32 - 1))
        if like is not None:
            options.put("has_like", True)
            options.put("like", number("like", like))
        order = order_of(taste, by)
        options.put("order", order)
        opened = None if history is None or history is False else self._open(history, run)
        if history is None and (ranking or candidates is not None):
            opened = self._history(self._ready)
        if opened is None and file.is_release:
            warn("a release has no users: give history, which each user is fitted to")
        elif opened is None and ranking:
            warn("without history, what users had before stays in the ranking, where it takes "
                 "places of what they want next")
        if opened:
            opened.warn_off_scale(file)
        before = opened.pointer if opened else ffi.NULL
        result = {} if test is None else self._evaluate(test, before, options, ranking, run)
        if candidates is not None:
            result["candidates"] = rank_candidates(file.model, candidates, before, order,
                                                   whole("n", n, 1, 2**32 - 1), run)
        return result

    def _evaluate(self, test: Any, before: Any, options: Struct, ranking: int,
                  run: Run) -> dict[str, Any]:
        file, asked = self._ready.file, self._open(test, run)
        found = ffi.new("struct dpmf_evaluation *")
        run.call(lib.dpmf_model_evaluate, file.model, asked.pointer, before, options.pointer,
                 run.pointer, found)
        result = plain(found[0], ("n", "rmse", "mae", "unknown_users", "unknown_items",
                                  "fitted_users", "learned_share"))
        result["in_fitted_history"] = found.shared
        if found.cold:
            result.update(plain(found[0], ("cold", "cold_rmse", "warm_rmse")))
        if ranking:
            result.update(ranked_users=found.ranked_users, in_history=found.in_history,
                          without_history=found.without_history, **plain(found.ranking, PART))
            if not found.ranked_users:
                warn("nobody could be ranked: there is no user of test with something to look for "
                     "that the model knows and the history does not hold")
            if found.has_popularity:
                result["popularity_bias"] = found.popularity_bias
                result["by_popularity"] = [plain(part, PART) for part in found.by_popularity]
        return result

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the variance of the ratings `y` that the model predicts for the pairs `X` (a
        table of two columns, users and items): R squared, as in scikit-learn's regressors."""
        if pairs_of(X) is None:
            raise usage("score needs a table of two columns, users and items, and their ratings",
                        "for other forms of ratings: evaluate")
        return r_squared(y, self.predict(X), sample_weight)

    def interval(self, users: Any, items: Any, level: float = 0.9) \
            -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The interval that contains each rating with this probability, if the model is right: the
        lower and the upper ends, within the scale; NaN for users and items the model does not know.

        It comes from the samples that a model fitted with `average=True` keeps.

        >>> import dpmf
        >>> model = dpmf.Model(n_factors=2, n_epochs=400, solver="gibbs", average=True)
        >>> model = model.fit(["ann", "ann", "bob"], ["dune", "alien", "dune"], [5, 3, 4])
        >>> low, high = model.interval(["bob"], ["alien"])
        >>> bool(low[0] <= high[0])
        True
        """
        fitted = self._with_users
        u, i = np.broadcast_arrays(np.atleast_1d(fitted.users.find(np.atleast_1d(users))),
                                   np.atleast_1d(fitted.items.find(np.atleast_1d(items))))
        low, high, error = np.full(len(u), np.nan), np.full(len(u), np.nan), new_error()
        chance = number("level", level)
        for n in range(len(u)):
            unknown = 2**64 - 1
            check(
                lib.dpmf_model_interval(fitted.file.model, unknown if u[n] < 0 else int(u[n]),
                                        unknown if i[n] < 0 else int(i[n]), chance,
                                        pointer("double *", low[n:]), pointer("double *", high[n:]),
                                        error), error)
        info = fitted.file.info
        return np.clip(low, info.min, info.max), np.clip(high, info.min, info.max)

    # ---- for other tools -----------------------------------------------------------------------

    def export(self, path: Any, form: str = "npy", *, users: bool = False,
               not_private: bool = False, replace: bool = False,
               cosine: bool = False) -> dict[str, Any]:
        """Writes the vectors for other tools, as ``dpmf export`` does: "npy" and "csv" are new
        directories, "libmf" and "sqlite" files, "pgvector" tables on a server, by its address.

        What is not a private release is refused without `not_private=True`; with `users`, the users
        of a checkpoint are written too. `cosine` adds vectors for indexes of nearest neighbours,
        whose cosines order items as predicted ratings do. docs/formats/exports.md describes the
        files.
        """
        if form not in FORMS:
            raise usage(f"form={shown(form)} is no form", f"one of: {', '.join(FORMS)}")
        file, run = self._ready.file, self._run()
        options = Struct("dpmf_export_options")
        options.put("form", getattr(lib, f"DPMF_EXPORT_{form.upper()}"))
        for name, value in (("users", users), ("not_private", not_private), ("replace", replace),
                            ("cosine", cosine)):
            options.put(name, flag(name, value))
        report = ffi.new("struct dpmf_export_report *")
        with file.raw_statement() as statement:
            run.call(lib.dpmf_model_export, file.model, statement, path_bytes(path),
                     options.pointer, run.pointer, report)
        return plain(report[0], ("items", "users", "bytes_written", "is_private"))

    # ---- scikit-learn --------------------------------------------------------------------------

    _estimator_type = "regressor"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import (  # type: ignore[import-untyped,unused-ignore]
            InputTags, RegressorTags, Tags, TargetTags)

        return Tags(estimator_type="regressor", target_tags=TargetTags(required=True),
                    regressor_tags=RegressorTags(poor_score=True),
                    input_tags=InputTags(two_d_array=True, categorical=True, string=True),
                    non_deterministic=True, requires_fit=True)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls.__init__).parameters
        return {name: parameter.default for name, parameter in parameters.items() if name != "self"}

    # ---- copies --------------------------------------------------------------------------------

    def _copied(self, deep: bool, memo: Optional[dict[int, Any]]) -> Any:
        """A checkpoint within this process: what was fitted is read-only, and shared. Of a release
        only what is public goes along, as in a pickle."""
        if self.__sklearn_is_fitted__() and self._fitted.file.is_release:
            made = type(self).__new__(type(self))
            made.__setstate__(self.__getstate__())  # type: ignore[attr-defined]
            return made
        parameters = self.get_params()
        made = type(self)(**(copy.deepcopy(parameters, memo) if deep else parameters))
        if self.__sklearn_is_fitted__():
            made._fitted = self._fitted
        return made

    def __copy__(self) -> Any:
        return self._copied(False, None)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self._copied(True, memo)
