"""Ratings before there is a model: made up, described, split, packed, written as text; and the
search for parameters."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from ._fit import check_goal, train_options
from ._native import ffi, lib
from ._progress import Shown
from ._ratings import Named, Reading, Store
from ._run import Run
from ._values import Struct, flag, memory_bytes, number, path_bytes, plain, shown, text_bytes, whole
from .errors import check, new_error, usage
from .model import Model, PathLike, opener

SPLITS = ("random", "user", "time")
HOLDABLE = ("n_factors", "n_epochs", "learning_rate", "regularization", "unobserved")


def _run(n_threads: int, memory: Any, progress: Any, replace: bool = False) -> Run:
    return Run(whole("n_threads", n_threads, 0, 4096), memory_bytes(memory), Shown(progress),
               flag("replace", replace))


def _open(ratings: Any, run: Run, events: bool, names: Named) -> Store:
    return opener(ratings, events=flag("events", events), names=names)(run, Reading())


def describe(ratings: Any, *, n_threads: int = 0, events: bool = False, user: Optional[str] = None,
             item: Optional[str] = None, rating: Optional[str] = None,
             time: Optional[str] = None) -> dict[str, Any]:
    """The size and the scale of ratings, in any form that `Model.fit` takes (columns as a tuple),
    or of a file. `events` declares values, such as those of a sparse matrix, to be counts; `user`,
    `item`, `rating` and `time` name the columns of a table or a file of Parquet or Arrow.

    >>> import dpmf
    >>> dpmf.describe((["ann", "ann", "bob"], ["dune", "alien", "dune"], [5, 3, 4]))["users"]
    2
    """
    run = _run(n_threads, None, False)
    store = _open(ratings, run, events, Named(user, item, rating, time))
    info = ffi.new("struct dpmf_store_info *")
    lib.dpmf_store_info(store.pointer, info)
    return plain(info[0], ("users", "items", "ratings", "min", "max", "has_times", "holds_events"))


def split(ratings: Any, train: PathLike, test: PathLike, *, test_fraction: float = 0.1,
          by: str = "random", random_state: Optional[int] = None, n_threads: int = 0,
          memory: Any = None, progress: Any = None, replace: bool = False,
          events: bool = False, user: Optional[str] = None, item: Optional[str] = None,
          rating: Optional[str] = None, time: Optional[str] = None) -> dict[str, Any]:
    """Splits ratings into two stores, which `Model.fit_file` and `Model.evaluate` read: both
    appear, or neither. `events` declares values, such as those of a sparse matrix, to be counts;
    `user`, `item`, `rating` and `time` name columns, as for `describe`.

    `by` is "random", each rating at random; "user", whole users at random; or "time", the latest
    ratings. The random choice depends only on the seed and the ids. Only their owner can read the
    files; a file that exists already and is not a store needs `replace`.
    """
    if by not in SPLITS:
        raise usage(f"by={shown(by)} is no way to split", f"one of: {', '.join(SPLITS)}")
    run = _run(n_threads, memory, progress, replace)
    options = Struct("dpmf_split_options")
    options.put("by", getattr(lib, f"DPMF_SPLIT_{by.upper()}"))
    options.put("test_fraction", number("test_fraction", test_fraction))
    if random_state is not None:
        options.put("seed", whole("random_state", random_state, 0, 2**64 - 1))
    report = ffi.new("struct dpmf_split_report *")
    store = _open(ratings, run, events, Named(user, item, rating, time))
    run.call(lib.dpmf_store_split, store.pointer, path_bytes(train), path_bytes(test),
             options.pointer, run.pointer, report)
    names = [
        "train_ratings", "train_users", "train_items", "test_ratings", "test_users", "test_items"
    ]
    return plain(report[0], tuple(names + ["cut_time"] * (by == "time")))


def synth(path: PathLike, *, like: Optional[str] = None, users: Optional[int] = None,
          items: Optional[int] = None, ratings: Optional[int] = None, rank: Optional[int] = None,
          noise: Optional[float] = None, times: bool = False, random_state: Optional[int] = None,
          catalogue: Optional[PathLike] = None, truth: Optional[PathLike] = None,
          n_threads: int = 0, progress: Any = None, replace: bool = False) -> dict[str, Any]:
    """Writes a store of made-up ratings, from a planted model: of the shape of a known set
    (`like="ml-1m"`), or of these sizes. `catalogue` receives ids and made-up titles as CSV, `truth`
    the planted vectors. A file that exists already needs `replace`, unless it is of the same kind.

    >>> import dpmf, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> dpmf.synth(folder.name + "/made-up.dpr", users=50, items=20, ratings=400)["ratings"]
    400
    >>> folder.cleanup()
    """
    run = _run(n_threads, None, progress, replace)
    options = Struct("dpmf_synth_options")
    if (like is not None and
            lib.dpmf_synth_options_like(text_bytes("like", like), options.pointer) != 0):
        names, i = [], 0
        while (name := lib.dpmf_synth_shape_name(i)) != ffi.NULL:
            names.append(ffi.string(name).decode())
            i += 1
        raise usage(f"like={shown(like)} is no known set", f"one of: {', '.join(names)}")
    for field, value in (("users", users), ("items", items), ("ratings", ratings)):
        if value is not None:
            options.put(field, whole(field, value, 1, 2**63))
    if rank is not None:
        options.put("rank", whole("rank", rank, 0, 4096))
    if noise is not None:
        options.put("noise", number("noise", noise))
    options.put("times", flag("times", times))
    if random_state is not None:
        options.put("seed", whole("random_state", random_state, 0, 2**64 - 1))
    for field, path_given in (("catalogue", catalogue), ("truth", truth)):
        if path_given is not None:
            options.put(field, path_bytes(path_given))
    report = ffi.new("struct dpmf_import_report *")
    run.call(lib.dpmf_synth, path_bytes(path), options.pointer, run.pointer, report)
    return plain(report[0], ("users", "items", "ratings"))


def write_csv(ratings: Any, path: PathLike, *, n_threads: int = 0, progress: Any = None,
              replace: bool = False, events: bool = False) -> int:
    """Writes ratings (a store, any other file, or what `Model.fit` takes) as CSV, exact to the bit.
    `events` declares values to be counts. A file that exists already needs `replace`. @return the
    number of bytes"""
    run = _run(n_threads, None, progress, replace)
    store = _open(ratings, run, events, Named())
    size = ffi.new("uint64_t *")
    run.call(lib.dpmf_store_export_csv, store.pointer, path_bytes(path), -1, run.pointer, size)
    return int(size[0])


# ---- parameters that suit the ratings ------------------------------------------------------------


class Trial(NamedTuple):
    """One set of parameters that was tried, and how good it was."""

    parameters: dict[str, Any]
    valid_rmse: float  #: error on the ratings held back; NaN when ranking, or without an epoch
    valid_ndcg: float  #: when ranking, NDCG of the ten best items; otherwise NaN
    seconds: float
    end: str  #: "done", "behind", "rising", "time" or "diverged"


class Tuning(NamedTuple):
    """What a search found."""

    model: Model  #: with the best parameters, not fitted yet
    best: Trial
    trials: list[Trial]  #: all of them, in their order


_ENDS = ("done", "behind", "rising", "time", "diverged")


def trial_of(c: Any) -> Trial:
    """A trial as Python has it."""
    parameters = {
        "n_factors": int(c.factors), "n_epochs": int(c.epochs),
        "regularization": float(c.regularization)
    }
    if c.valid_ndcg != c.valid_ndcg:  # NaN: it does not rank
        parameters["learning_rate"] = float(c.learning_rate)
    else:
        parameters["unobserved"] = float(c.unobserved)
    return Trial(parameters, float(c.valid_rmse), float(c.valid_ndcg), float(c.seconds),
                 _ENDS[c.end])


def tune(ratings: Any, model: Optional[Model] = None, *, valid: Any = None,
         trials: Optional[int] = None, seconds: Optional[float] = None,
         valid_fraction: Optional[float] = None, hold: tuple[str, ...] = (),
         population: Optional[str] = None, ledger: Optional[PathLike] = None,
         events: bool = False) -> Tuning:
    """Searches for the parameters with which a model predicts best, on a part of the ratings held
    back (or on `valid`), as ``dpmf tune`` does: by the error, or with ``goal="ranking"`` and of
    events by the NDCG of lists of ten.

    `model` gives what all trials have in common, and where the search begins; `hold` names
    parameters to keep. `events` declares values, such as the third of three columns, to be counts.
    Settings that were chosen from private ratings are outside the proof of a release that is made
    with them: where releases are made of the same people, name them with `population`, and the
    ledger records the search.
    """
    model = Model() if model is None else model
    parameters = model.get_params()
    if model.epsilon is not None:
        raise usage("tune searches for parameters of models without epsilon",
                    "a private release needs none: its schedule is fixed")
    if ledger is not None and population is None:
        raise usage("ledger needs population, whose ratings these are")
    options = Struct("dpmf_tune_options")
    for name in hold:
        if name not in HOLDABLE:
            raise usage(f"hold: {shown(name)} is not searched for",
                        f"one of: {', '.join(HOLDABLE)}")
        options.put("hold_" + name.replace("n_", "", 1), True)
    if trials is not None:
        options.put("trials", whole("trials", trials, 1, 10000))
    if seconds is not None:
        options.put("seconds", number("seconds", seconds))
    if valid_fraction is not None:
        options.put("valid_fraction", number("valid_fraction", valid_fraction))
    run = model._run()
    ranks, likes = check_goal(parameters), model.like is not None
    store = opener(ratings, ranks, likes, flag("events", events))(run, Reading())
    ranks = ranks or (model.goal is None and model.solver is None and store.holds_events)
    if "unobserved" in hold and (not ranks or parameters["unobserved"] is None):
        raise usage("hold: the model gives no unobserved to keep",
                    'for example: dpmf.Model(goal="ranking", unobserved=0.3)')
    train = train_options(
        {**parameters, "patience": None, "snapshot": None, "snapshot_every": None}, ranks)
    held = None if valid is None else opener(valid, ranks, likes, events)(run, Reading())
    if population is not None:
        error = new_error()
        check(
            lib.dpmf_ledger_record_tuning(ffi.NULL if ledger is None else path_bytes(ledger),
                                          text_bytes("population", population), run.pointer, error),
            error)
    report = ffi.new("struct dpmf_tune_report *")
    run.call(lib.dpmf_tune, store.pointer, held.pointer if held else ffi.NULL, train.pointer,
             options.pointer, run.pointer, lib.dpmf_py_trial, run.handle, report)
    best = trial_of(report.best)
    found = {name: value for name, value in best.parameters.items() if name in parameters}
    return Tuning(Model(**{**parameters, **found}), best, [trial_of(trial) for trial in run.trials])
