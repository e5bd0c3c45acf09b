"""Fitting: from a model's parameters and ratings to an open model.

A checkpoint is trained by stochastic gradient descent or a sampler; a release by a private
mechanism. Both are written by the library to a folder of their own, which is gone as soon as the
file is open.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from datetime import date, datetime
from decimal import ROUND_CEILING, Context
from typing import Any, Callable, Optional

from . import _tables
from ._file import ModelFile, UnnamedFiles, WorkFolder
from ._ids import Ids
from ._ledger import budget
from ._native import ffi, lib
from ._ratings import Reading, Store
from ._run import Epoch, Run
from ._seen import Seen, SeenBefore
from ._values import (Struct, flag, is_path, number, pair, path_bytes, plain, refuse_given, shown,
                      text_bytes, whole)
from .errors import DpmfWarning, PrivacyRefused, PrivacyWarning, usage, warn
from .user import Shelf

# What has no meaning in the other kind of run.
PLAIN_ONLY = ("n_factors", "n_epochs", "learning_rate", "decay", "regularization", "random_state",
              "patience", "solver", "unobserved", "count_weight", "average", "burn_in", "n_samples",
              "n_chains", "step", "snapshot", "snapshot_every", "adapt", "user_features")
PRIVATE_ONLY = ("delta", "catalogue", "catalogue_from_ratings", "mechanism", "user_privacy",
                "users_since", "users_before", "complete_histories", "about", "declared_users",
                "accept_delta", "accept_epsilon",
                "population", "ledger", "ledger_budget", "insecure_noise_seed")

TRAIN_REPORT = ("epochs", "seconds", "updates_per_second", "train_rmse", "valid_rmse",
                "stopped_early", "tiles_on_disk", "kernels")
ADAPT_REPORT = ("trials", "is_averages", "train_ratings", "valid_ratings", "valid_rmse",
                "averages_rmse", "seconds")
PRIVATE_REPORT = ("epsilon", "delta", "mu", "factors", "noisy_rounds", "seconds", "release_id",
                  "mechanism", "is_popularity_alone", "users", "ratings",
                  "not_in_catalogue", "out_of_range",
                  "users_left_out", "wishes", "users_with_a_wish", "wishes_of_nobody",
                  "wishes_twice", "wishes_above", "users_as_items", "users_as_categories",
                  "users_of_other_periods", "users_without_time", "range_is_wide",
                  "times_are_doubtful", "delta_is_high", "declared_users_differ")

SECONDS_TO_INTERRUPT = 5

# Where nobody has set up logging, its warnings are on standard error: also in a notebook.
log = logging.getLogger("dpmf")

OpenStore = Callable[[Run, Reading], Store]


class Fitted:
    """What a fit or a file leaves behind."""

    def __init__(self, file: ModelFile, users_are_texts: bool = False,
                 items_are_texts: bool = False) -> None:
        self.file = file
        self.is_made_here = False  # by a fit of this model, whose parameters are all there
        self.items = Ids(file.model, file.count("item"), "item", items_are_texts)
        self.users = Ids(file.model, file.count("user"), "user", users_are_texts)
        self.shelf = Shelf(file, self.items)
        self.store: Optional[Store] = None  # to leave out what was seen; never of a release
        self.seen: Any = None
        self.epochs: list[Epoch] = []
        self.report: dict[str, Any] = {}


# ---- a checkpoint ------------------------------------------------------------------------------


GOALS = ("rating", "ranking")


def check_goal(parameters: dict[str, Any]) -> bool:
    """@return whether the model is to rank, as far as the parameters say so."""
    goal, solver = parameters["goal"], parameters["solver"]
    if goal is not None and goal not in GOALS:
        raise usage(f"goal={shown(goal)} is no goal", f"one of: {', '.join(GOALS)}")
    if goal == "ranking" and solver not in (None, "ials"):
        raise usage(f"solver={shown(solver)} predicts ratings, and does not rank",
                    'leave solver out, or give solver="ials"')
    if goal == "rating" and solver == "ials":
        raise usage("ials ranks, and predicts no ratings", 'leave goal out, or give goal="ranking"')
    ranks = bool(goal == "ranking" or solver == "ials")
    if parameters["like"] is not None and not ranks:
        raise usage("like is for goal=\"ranking\"", 'add goal="ranking", or leave it out')
    return ranks


def least_like(parameters: dict[str, Any]) -> Optional[float]:
    """The smallest rating that is an event; None: nobody said."""
    like = parameters["like"]
    if like is None or isinstance(like, str) and like == "any":
        return None if like is None else -math.inf
    return number("like", like)


def train_options(parameters: dict[str, Any], ranks: bool, is_open: bool = False) -> Struct:
    """`is_open`: whether the model will rank is known only from the data."""
    options = Struct("dpmf_train_options")
    solver = "ials" if parameters["solver"] is None and ranks else parameters["solver"]
    if solver is not None:
        # With the defaults that are its own. A name that is none is refused when training begins.
        options.put("solver", text_bytes("solver", solver))
        lib.dpmf_train_options_solver(options.pointer.solver, options.pointer)
    like = least_like(parameters)
    if like is not None and like > -math.inf:
        options.pointer.ials.has_like = True
        options.pointer.ials.like = like
    for name in "unobserved", "count_weight":
        if parameters[name] is None:
            continue
        if not ranks and not is_open:
            raise usage(f'{name} is for goal="ranking"', 'add goal="ranking", or leave it out')
        value = number(name, parameters[name])
        if name == "unobserved" and not value > 0:  # 0 stands for None there
            raise usage("unobserved must be above 0", "leave it out to go by the number of events")
        setattr(options.pointer.ials, name, value)
    largest = 2**32 - 1
    for field, name, low, high in (("factors", "n_factors", 1, 4096),
                                   ("epochs", "n_epochs", 1, largest),
                                   ("seed", "random_state", 0, 2**64 - 1),
                                   ("patience", "patience", 0, largest)):
        if parameters[name] is not None:
            options.put(field, whole(name, parameters[name], low, high))
    _refuse_rates(parameters, solver)
    for name in ("learning_rate", "regularization", "decay"):
        if parameters[name] is not None:
            options.put(name, number(name, parameters[name]))
    if parameters["decay"] is not None and not options.pointer.decay >= 0:
        # Below 0 is the library's word for the schedule of its own, not for a growing step.
        raise usage(f"decay={shown(parameters['decay'])} is below 0",
                    "leave it out to use the default schedule")
    options.put("deterministic", flag("deterministic", parameters["deterministic"]))
    options.put("averages_first", flag("adapt", parameters["adapt"]) and solver in (None, "sgd"))
    _put_sampler(parameters, options)
    _put_snapshots(parameters, options)
    return options


def _refuse_rates(parameters: dict[str, Any], solver: Any) -> None:
    """What a solver has no use for: a search over it would compare copies of one model."""
    is_sampler = solver is not None and lib.dpmf_solver_is_sampler(text_bytes("solver", solver))
    names = ["learning_rate", "decay"] if is_sampler or solver == "ials" else []
    for name in names + (["regularization"] if is_sampler else []):
        if parameters[name] is not None:
            raise usage(f"{name} is for sgd, not for {solver}", "leave it out")


def _put_sampler(parameters: dict[str, Any], options: Struct) -> None:
    is_sampler = (options.pointer.solver != ffi.NULL and
                  lib.dpmf_solver_is_sampler(options.pointer.solver))
    sampler = options.pointer.sampler
    sampler.average = flag("average", parameters["average"])
    given = ["average"] if sampler.average else []
    for field, name, low in (("burn_in", "burn_in", 0), ("samples", "n_samples", 1),
                             ("chains", "n_chains", 1)):
        if parameters[name] is not None:
            setattr(sampler, field, whole(name, parameters[name], low, 2**32 - 2))
            given.append(name)
    if parameters["step"] is not None:
        sampler.step = number("step", parameters["step"])
        given.append("step")
        if not 0 < sampler.step < math.inf:
            raise usage(f"step={shown(parameters['step'])} is not above 0",
                        "leave it out for the default step")
    if given and not is_sampler:
        raise usage(f"{given[0]} is for samplers", 'for example: solver="gibbs"')


def _put_snapshots(parameters: dict[str, Any], options: Struct) -> None:
    if parameters["snapshot"] is not None:
        options.put("snapshot", path_bytes(parameters["snapshot"]))
    if parameters["snapshot_every"] is not None:
        if parameters["snapshot"] is None:
            raise usage("snapshot_every needs snapshot, the file to write",
                        'for example: snapshot="run.snapshot"')
        options.put("snapshot_every",
                    whole("snapshot_every", parameters["snapshot_every"], 1, 2**32 - 1))
    if parameters.get("resume") is not None:
        options.put("resume", path_bytes(parameters["resume"]))


def _adapt(parameters: dict[str, Any], options: Struct, store: Store,
           run: Run) -> Optional[dict[str, Any]]:
    """Finds what no parameter gives, as ``dpmf train`` does. @return how it was found; None:
    nothing was tried."""
    if not options.pointer.averages_first:
        return None
    what = 0
    if parameters["decay"] is None:  # a schedule of one's own has its own steps and its own end
        what |= lib.DPMF_ADAPT_EPOCHS if parameters["n_epochs"] is None else 0
        what |= lib.DPMF_ADAPT_LEARNING_RATE if parameters["learning_rate"] is None else 0
    what |= lib.DPMF_ADAPT_REGULARIZATION if parameters["regularization"] is None else 0
    found = ffi.new("struct dpmf_adapt_report *")
    run.call(lib.dpmf_train_adapt, store.pointer, what, options.pointer, run.pointer, found)
    if found.trials == 0:
        return None
    chosen = {
        name: getattr(options.pointer, name)
        for name in ("learning_rate", "regularization", "epochs")
    }
    log.info(
        "chosen in %d trials: learning_rate=%g, regularization=%g, n_epochs=%d (error %.4f on "
        "ratings held back; %.4f with averages alone)", found.trials, *chosen.values(),
        found.valid_rmse, found.averages_rmse)
    return {**chosen, **plain(found[0], ADAPT_REPORT)}


def fit_checkpoint(parameters: dict[str, Any], defaults: dict[str, Any], open_store: OpenStore,
                   open_valid: Optional[OpenStore], reading: Reading, run: Run) -> Fitted:
    refuse_given(parameters, defaults, PRIVATE_ONLY,
                 "is for private releases: set epsilon, or leave it out")
    ranks = check_goal(parameters)
    is_open = not ranks and parameters["goal"] is None and parameters["solver"] is None
    options = train_options(parameters, ranks, is_open)
    if parameters["patience"] is not None and open_valid is None:
        raise usage("patience needs valid, the ratings to measure on",
                    "for example: fit(..., valid=(users, items, ratings))")
    if parameters["rating_range"] is not None:
        reading = reading._replace(rating_range=pair("rating_range", parameters["rating_range"]))
    store = open_store(run, reading)
    if is_open:
        options = train_options(parameters, store.holds_events)
    adapted = _adapt(parameters, options, store, run)
    run.total_epochs = options.pointer.epochs
    valid = open_valid(run, reading) if open_valid else None
    report = ffi.new("struct dpmf_train_report *")
    with WorkFolder() as folder:
        output = folder / "model"
        features = _tables.feature_files(folder, parameters["item_features"],
                                         parameters["user_features"])
        if options.pointer.solver == ffi.NULL or ffi.string(options.pointer.solver) == b"sgd":
            for name, path in zip(("item_features", "user_features"), features):
                if path is not None:
                    options.put(name, path)
        run.call(lib.dpmf_train, store.pointer, valid.pointer if valid else ffi.NULL,
                 os.fsencode(output), options.pointer, run.pointer, lib.dpmf_py_epoch, run.handle,
                 report, names={str(output): "the model"})
        file = ModelFile.open(output)
        file.add_features(*features, run)
    file.name = "the model"
    fitted = Fitted(file, store.users_are_texts, store.items_are_texts)
    fitted.is_made_here = True
    fitted.store = store
    fitted.epochs = run.epochs
    fitted.report = plain(report[0], TRAIN_REPORT)
    if adapted is not None:
        fitted.report["adapted"] = adapted
    return fitted


def continue_checkpoint(parameters: dict[str, Any], n_epochs: Optional[int], fitted: Fitted,
                        open_store: OpenStore, open_valid: Optional[OpenStore], reading: Reading,
                        run: Run, open_history: Optional[OpenStore] = None) -> Fitted:
    """A fitted model and new ratings, as ``dpmf train --continue`` does it."""
    if fitted.file.has_features:
        raise usage("a model with users or items placed by features cannot be continued",
                    "continue it as it was saved, without them: save(path), then load(path)")
    options = Struct("dpmf_continue_options")
    for field, name, value, low, high in (("epochs", "n_epochs", n_epochs, 1, 2**32 - 1),
                                          ("seed", "random_state", parameters["random_state"], 0,
                                           2**64 - 1), ("patience", "patience",
                                                        parameters["patience"], 0, 2**32 - 1)):
        if value is not None:
            options.put(field, whole(name, value, low, high))
    options.put("deterministic", flag("deterministic", parameters["deterministic"]))
    _put_snapshots(parameters, options)
    if parameters["rating_range"] is not None:
        reading = reading._replace(rating_range=pair("rating_range", parameters["rating_range"]))
    store = open_store(run, reading)
    valid = open_valid(run, reading) if open_valid else None
    history = open_history(run, reading) if open_history else None
    if history is not None:
        options.pointer.history = history.pointer
    run.total_epochs = options.pointer.epochs
    report = ffi.new("struct dpmf_train_report *")
    with WorkFolder() as folder:
        before, output = folder / "before", folder / "model"
        fitted.file.save(before)
        run.call(lib.dpmf_train_continue,
                 os.fsencode(before), store.pointer, valid.pointer if valid else ffi.NULL,
                 os.fsencode(output), options.pointer, run.pointer, lib.dpmf_py_epoch, run.handle,
                 report, names={str(before): "the model",
                                str(output): "the model"})
        file = ModelFile.open(output)
    file.name = "the model"
    made = Fitted(file, store.users_are_texts or fitted.users.as_texts, store.items_are_texts or
                  fitted.items.as_texts)
    made.is_made_here = fitted.is_made_here
    if fitted.seen is None and fitted.store is not None:
        fitted.seen = Seen(fitted, fitted.store, run)
    if fitted.seen is not None:
        made.seen = SeenBefore(fitted.seen, fitted.file.count("user"), Seen(made, store, run))
    made.epochs = run.epochs
    made.report = plain(report[0], TRAIN_REPORT + ("new_users", "new_items") +
                        (("old_events",) if history is not None else ()))
    return made


# ---- a release ---------------------------------------------------------------------------------


def _refuse(message: str, hint: str) -> PrivacyRefused:
    return PrivacyRefused(lib.DPMF_ERR_PRIVACY_REFUSED, message, hint)


def _check_declared(parameters: dict[str, Any], ranks: bool) -> None:
    is_taken = flag("catalogue_from_ratings", parameters["catalogue_from_ratings"])
    if parameters["catalogue"] is None and not is_taken:
        raise _refuse("a private release needs a public catalogue: which items were rated is "
                      "private", "give the list of all items: catalogue=[...], or a file")
    if parameters["rating_range"] is None and not ranks:
        raise _refuse("a private release needs the range of ratings to be declared: the smallest "
                      "and the largest one given are private",
                      'for example: rating_range=(1, 5); for a matrix of counts: goal="ranking"')


def _read_catalogue(parameters: dict[str, Any]) -> bool:
    """Reads it once. @return whether its items are texts: what is public says so, and not someone's
    record."""
    if parameters["catalogue"] is None or is_path(parameters["catalogue"]):
        return False
    parameters["catalogue"] = _tables.catalogue_items(parameters["catalogue"])
    return any(isinstance(item, (str, bytes)) for item in parameters["catalogue"])


def _date(name: str, value: Any) -> bytes:
    """A day, as the library reads it."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = value.isoformat()
    if not isinstance(value, str):
        raise usage(f"{name} is a {type(value).__name__}, not a date",
                    f'for example: {name}="2026-01-01"')
    return text_bytes(name, value)


def private_options(parameters: dict[str, Any], files: UnnamedFiles) -> Struct:
    options = Struct("dpmf_release_options")
    options.put("epsilon", number("epsilon", parameters["epsilon"]))
    options.put("delta", number("delta", parameters["delta"]))
    if parameters["rating_range"] is not None:
        low, high = pair("rating_range", parameters["rating_range"])
        options.put("range_min", low)
        options.put("range_max", high)
    if parameters["goal"] is not None:
        options.put("goal", text_bytes("goal", parameters["goal"]))
    for name in ("catalogue_from_ratings", "accept_delta", "accept_epsilon", "complete_histories"):
        options.put(name, flag(name, parameters[name]))
    options.put("mechanism", text_bytes("mechanism", parameters["mechanism"]))
    for name, write in (("catalogue", _tables.write_catalogue),
                        ("item_features", _tables.write_features),
                        ("user_privacy", _tables.write_wishes)):
        if parameters[name] is not None:
            options.put(name, _tables.file_of(parameters[name], files.add(name), write))
    for name in ("users_since", "users_before"):
        if parameters[name] is not None:
            options.put(name, _date(name, parameters[name]))
    if parameters["about"] is not None:
        options.put("about", _tables.about_file(parameters["about"], files.add("about")))
    if parameters["declared_users"] is not None:
        options.put("declared_users",
                    whole("declared_users", parameters["declared_users"], 1, 2**63))
    if parameters["population"] is not None:
        options.put("population", text_bytes("population", parameters["population"]))
    if parameters["ledger"] is not None:
        options.put("ledger", path_bytes(parameters["ledger"]))
    if parameters["ledger_budget"] is not None:
        accepted = flag("accept_epsilon", parameters["accept_epsilon"])
        options.put("ledger_budget", budget(parameters["ledger_budget"], accepted)[0])
    if parameters["insecure_noise_seed"] is not None:
        options.put("has_insecure_seed", True)
        options.put("insecure_seed", whole("insecure_noise_seed",
                                           parameters["insecure_noise_seed"], 0, 2**64 - 1))
    return options


def _tell_new(report: Any) -> None:
    """Reports a new population: a misspelled name, or a ledger in another place, starts with
    nothing spent."""
    if report.spent.name == ffi.NULL:
        return
    name = ffi.string(report.spent.name).decode()
    if report.is_new_ledger:
        log.warning("new ledger in its usual place: it knows nothing of earlier releases")
    elif report.is_new_population and report.other_populations:
        warn(f"population {name!r} is new to the ledger, which knows others: check the name, since "
             "each has a budget of its own", PrivacyWarning)


def _up(value: float) -> str:
    """Five digits, and never less than the value."""
    return f"{Context(prec=5, rounding=ROUND_CEILING).create_decimal(value):g}"


def _spent(report: Any) -> dict[str, Any]:
    """What the population has spent, for the report."""
    spent = report.spent
    if spent.name == ffi.NULL:
        return {}
    return {"population": ffi.string(spent.name).decode(), "spent_mu": spent.mu,
            "spent_mu_in_full": spent.mu_in_full, "spent_periods": spent.periods,
            "spent_epsilon": spent.epsilon, "spent_delta": spent.delta,
            "spent_releases": spent.committed + spent.reserved,
            "spent_kind": ffi.string(lib.dpmf_claim_name(spent.claim)).decode(),
            "budget_mu": spent.budget.mu or None}


def _log_spent(spent: dict[str, Any]) -> None:
    """Logs it, so that many fits do not add up unnoticed."""
    if not spent:
        return
    releases, budget_mu = spent["spent_releases"], spent["budget_mu"]
    kind, delta = spent["spent_kind"], spent["spent_delta"]
    log.warning("population %r has spent mu %s in %d release%s, epsilon %s%s%s; %s",
                spent["population"], _up(spent["spent_mu"]), releases, "" if releases == 1 else "s",
                _up(spent["spent_epsilon"]), f" at delta {delta:g}" if delta else "",
                "" if kind == "proven" else f", {kind}, not proven",
                f"budget mu {budget_mu:.5g}" if budget_mu else "no budget: an odometer")
    if spent["spent_periods"] and spent["spent_mu"] < spent["spent_mu_in_full"]:
        log.warning("  releases of users by their first record add up only where periods overlap: "
                    "histories are declared complete, which dpmf cannot check; in full mu %s",
                    _up(spent["spent_mu_in_full"]))
    elif spent["spent_periods"]:
        log.warning("  releases of users by their first record add up in full: users may be in "
                    "several, unless histories are declared complete and periods do not overlap")


def _tell_part(part: int, whole: int, what: str, where: str, check: str) -> bool:
    """Reports dropped records: a tenth of them is more than a few stray ones."""
    alarms = 10 * part >= whole
    if part:
        warn(f"{part} of {whole} {what} {'is' if part == 1 else 'are'} outside {where}"
             + (f": check {check}" if alarms else ", and left out"),
             PrivacyWarning if alarms else DpmfWarning)
    return part > 0 and alarms


def _tell_wide(report: Any) -> bool:
    if report.range_is_wide:
        warn("nearly all ratings lie within a tenth of the declared range, and noise is made for "
             "all of it: check rating_range", PrivacyWarning)
    return bool(report.range_is_wide)


def _tell_users(report: Any) -> bool:
    """The number of users that is declared, by the one there is."""
    n = report.users + report.users_left_out
    if report.delta_is_high:
        warn(f"delta {report.delta:g} is not below one in {n} users: one of them might be exposed "
             "altogether: use a smaller delta, or declare them with declared_users, which refuses "
             "it", PrivacyWarning)
    if report.declared_users_differ:
        warn(f"there are {n} users, and the statement will publish what declared_users says: check "
             "it", PrivacyWarning)
    return bool(report.delta_is_high or report.declared_users_differ)


def _tell_wishes(report: Any) -> bool:
    wishes = "wish" if report.wishes == 1 else "wishes"
    if report.wishes_twice:
        warn(f"user_privacy names users again in {report.wishes_twice} of its rows: the smallest "
             "epsilon counts")
    if report.wishes_above:
        warn(f"{report.wishes_above} of {report.wishes} {wishes} above epsilon: the release's "
             "epsilon holds")
    if report.wishes_of_nobody:
        match = "matches" if report.wishes_of_nobody == 1 else "match"
        warn(f"{report.wishes_of_nobody} of {report.wishes} {wishes} {match} nobody: check the ids",
             PrivacyWarning)
    return bool(report.wishes_of_nobody)


def _tell_periods(report: Any) -> bool:
    """Reports users who do not take part, by the time of their first record."""
    without, others = report.users_without_time, report.users_of_other_periods
    whole = report.users + report.users_left_out + others + without
    if others:
        warn(f"{others} of {whole} users left out: first record in another period")
    alarms = bool(without > 0 and 10 * without >= whole)
    if report.times_are_doubtful:
        warn("a tenth or more of the users have their first record in 1970 or after 2199, where "
             "nobody's is: dates are written as 2026-01-15, not as 20260115, and times as seconds "
             "since 1970, or left out where they are not known",
             PrivacyWarning)
    if without:
        warn(f"{without} of {whole} users left out: a record without a time, or beyond the year "
             "9999 (times are seconds since 1970)", PrivacyWarning if alarms else DpmfWarning)
    return alarms or bool(report.times_are_doubtful)


def _tell_claim(report: Any) -> None:
    """What may be claimed follows from the parameters, so it is known before anything is spent."""
    if report.claim == lib.DPMF_CLAIM_NOT_PRIVATE:
        warn("NOT PRIVATE: the noise comes from a seed; for tests only", PrivacyWarning)
        return
    kind = ffi.string(lib.dpmf_claim_name(report.claim)).decode()
    sentence, bit = ffi.new("const char **"), 1
    while bit <= lib.DPMF_ASSUMES_LAST:
        if report.assumptions & bit and lib.dpmf_assumption_name(bit, sentence) != ffi.NULL:
            warn(f"the release is {kind}, not proven: it assumes "
                 f"{ffi.string(sentence[0]).decode()}", PrivacyWarning)
        bit <<= 1


def _tell_people(report: Any) -> bool:
    """Warns of lists of people given as public tables."""
    for n, what in ((report.users_as_items,
                     "an item of the catalogue that nobody rated: is it a list "
                     "of people? The release would publish it"),
                    (report.users_as_categories,
                     "a category or a number of the item features: are they "
                     "about people?")):
        if n:
            warn(f"{n} user{'s have' if n > 1 else ' has'} the id of {what}", PrivacyWarning)
    return bool(report.users_as_items or report.users_as_categories)


def _tell_popularity_alone(report: Any) -> None:
    if report.is_popularity_alone and report.factors == 0:
        warn("this release is popularity alone: with so few people, so little epsilon or so few "
             "items, noise hides which items go together")
    elif report.is_popularity_alone:
        warn("this release is popularity alone: by the users' noisy vote, taste counts nothing")


def _tell_before_spending(report: Any, what: str) -> None:
    """Warns of what the curator should know first. On a terminal there is time to interrupt; where
    warnings are errors, the fit ends here, and nothing is spent."""
    _tell_claim(report)
    _tell_new(report)
    whole = report.ratings + report.trimmed + report.not_in_catalogue + report.out_of_range
    alarms = [
        _tell_part(report.not_in_catalogue, whole, what, "the catalogue",
                   "how it spells its items"),
        _tell_part(report.out_of_range, whole, what, "the declared range", "rating_range"),
        _tell_wide(report),
        _tell_users(report),
        _tell_wishes(report),
        _tell_people(report),
        _tell_periods(report)
    ]
    if report.declares_less_spent:
        warn(f"about declares that less was spent before than the ledger has of the population, "
             f"mu {_up(report.spent.mu)}: the release will publish the smaller sum",
             PrivacyWarning)
        alarms.append(True)
    if report.users == 0:
        warn("no user is left: the release will hold nothing but noise", PrivacyWarning)
    if report.catalogue_is_rated_set:
        warn("the catalogue is exactly the set of rated items, or nearly: if it was made from the "
             "ratings it is not public", PrivacyWarning)
    if (any(alarms) or report.users == 0) and sys.stderr is not None and sys.stderr.isatty():
        print("nothing has been spent yet; it begins in "
              f"{SECONDS_TO_INTERRUPT} seconds, unless you interrupt it", file=sys.stderr)
        time.sleep(SECONDS_TO_INTERRUPT)


def fit_release(parameters: dict[str, Any], defaults: dict[str, Any], open_store: OpenStore,
                reading: Reading, run: Run, deliver: Callable[[Fitted], None]) -> None:
    """Once its budget is spent, a release is delivered, whatever else is raised."""
    refuse_given(parameters, defaults, PLAIN_ONLY,
                 "cannot be set with epsilon: a private mechanism fixes it")
    ranks = check_goal(parameters)
    _check_declared(parameters, ranks or reading.events)
    reading = reading._replace(like=least_like(parameters))
    report = ffi.new("struct dpmf_release_report *")
    items_are_texts = _read_catalogue(parameters)
    with WorkFolder() as folder, UnnamedFiles() as files:
        options = private_options(parameters, files)
        # A record that cannot be used is dropped: were the run refused for it, one person would
        # decide over everyone's release. The range is looked at later, for the same reason.
        store = open_store(run, reading._replace(skip_bad=True, by_record=True, rating_range=None))
        if parameters["catalogue_from_ratings"]:
            items_are_texts = store.items_are_texts
        output = folder / "release"

        def keep() -> None:
            spent = _spent(report)
            try:
                file = ModelFile.open(output)
                file.name = "the release"
                # The store is let go of: a release has nothing to do with anyone's ratings.
                fitted = Fitted(file, items_are_texts=items_are_texts)
                fitted.is_made_here = True
                fitted.report = {**plain(report[0], PRIVATE_REPORT),
                                 "kind": file.statement.kind, **spent}
                deliver(fitted)
            finally:
                _log_spent(spent)
            _tell_popularity_alone(report)

        what = "events" if store.holds_events else "ratings"
        options.put("before_spending",
                    run.before_spending(lambda found: _tell_before_spending(found, what)))
        options.put("before_spending_self", run.handle)
        run.call(lib.dpmf_release_make, store.pointer, os.fsencode(output), options.pointer,
                 run.pointer, report, names={**files.names, str(output): "the release"}, then=keep)
