"""Before and after a private release: what to expect of it, what it costs, and an attack on it."""

from __future__ import annotations

import math
from typing import Any, Optional

from ._file import UnnamedFiles
from ._fit import private_options
from ._native import ffi, lib
from ._ratings import Reading
from ._values import Struct, flag, number, pair, plain, whole
from .errors import PrivacyError, check, new_error, usage
from .model import Model, opener

PLAN = ("mu", "counts_noise", "first_noise", "last_noise", "factors", "rounds", "published_numbers",
        "rmse_biases", "rmse_residual", "hit_rate")
AUDIT = ("mechanism", "mu", "epsilon", "delta", "users", "users_of_store", "items", "worlds",
         "world_rounds", "world_numbers", "world_norm", "runs_in", "runs_out", "guessed_right",
         "canaries", "guesses", "guesses_right", "mu_low", "epsilon_low", "confidence", "mu_canary",
         "contributions", "draws", "noisy_rounds", "noise_numbers", "noise", "seconds")


class AuditFailed(PrivacyError):
    """A mechanism reveals more than it claims. `report` is what `audit` would have returned."""

    report: dict[str, Any]


def plan(*, users: int, items: int, ratings_per_user: float, rating_range: Any = (1, 5),
         epsilon: float = 1, delta: float = 1e-5, item_features: bool = False) -> dict[str, Any]:
    """What noise and what accuracy to expect of a release, from sizes alone: no data is touched.

    `mu` and the noise are exact; `rmse_biases` and `rmse_residual` are forecasts from assumed
    variances; `hit_rate`, HR@10 of a release of events, was measured on MovieLens 1M, and is NaN
    for sets unlike it.

    >>> import dpmf
    >>> expected = dpmf.plan(users=6040, items=3706, ratings_per_user=165, rating_range=(1, 5),
    ...                      epsilon=1)
    >>> round(expected["mu"], 3), expected["rmse_residual"] < expected["rmse_biases"]
    (0.268, True)
    """
    options = Struct("dpmf_plan_options")
    options.put("users", whole("users", users, 1, 2**63))
    options.put("items", whole("items", items, 1, 2**63))
    options.put("ratings_per_user", number("ratings_per_user", ratings_per_user))
    low, high = pair("rating_range", rating_range)
    for name, value in (("range_min", low), ("range_max", high),
                        ("epsilon", number("epsilon", epsilon)), ("delta", number("delta", delta)),
                        ("has_features", flag("item_features", item_features))):
        options.put(name, value)
    expected, error = ffi.new("struct dpmf_plan *"), new_error()
    check(lib.dpmf_privacy_plan(options.pointer, expected, error), error)
    return plain(expected[0], PLAN)


def account(*, epsilon: Optional[float] = None, delta: Optional[float] = 1e-5,
            mu: Optional[float] = None, releases: int = 1) -> dict[str, float]:
    """Converts between mu, and epsilon at a delta, exactly, rounded so that it never promises too
    much: of the three, give two or mu and delta. `releases` composes that many of the same.

    >>> import dpmf
    >>> one = dpmf.account(epsilon=1, delta=1e-5)
    >>> round(dpmf.account(epsilon=1, releases=4)["mu"] / one["mu"], 6)
    2.0
    """
    count = whole("releases", releases, 1, 10**6)
    if mu is None:
        if epsilon is None or delta is None:
            raise usage("account needs epsilon and delta, or mu and one of them")
        mu = lib.dpmf_privacy_mu(number("epsilon", epsilon), number("delta", delta))
    elif epsilon is not None:
        delta = None
    mu = number("mu", mu)
    if not 0 < mu < math.inf or (delta is not None and not 0 < number("delta", delta) < 1):
        raise usage("no promise has these figures",
                    "epsilon and mu are above 0, delta between 0 and 1")
    total = float(lib.dpmf_privacy_compose(ffi.new("double[]", [mu] * count), count))
    if delta is not None:
        d = number("delta", delta)
        return {"mu": total, "epsilon": float(lib.dpmf_privacy_epsilon(total, d)), "delta": d}
    e = number("epsilon", epsilon)
    return {"mu": total, "epsilon": e, "delta": float(lib.dpmf_privacy_delta(total, e))}


def audit(ratings: Any, model: Model, *, runs: Optional[int] = None, users: Optional[int] = None,
          confidence: Optional[float] = None, minutes: Optional[float] = None) -> dict[str, Any]:
    """Attacks the release that `model` would make of these ratings, as ``dpmf audit`` does: whole
    runs with and without a person are compared exactly, then many with fresh noise. Nothing is
    published, kept or spent.

    @return figures of the attack, for whoever may see the ratings. An `AuditFailed` is raised when
    the mechanism reveals more than it claims. Finding nothing proves nothing: the proof is in
    docs/privacy.
    """
    if model.epsilon is None:
        raise usage("audit needs a model with epsilon, whose promise it attacks",
                    "for example: dpmf.Model(epsilon=1, rating_range=(1, 5), catalogue=...)")
    options = Struct("dpmf_audit_options")
    for name, value in (("runs", runs), ("users", users)):
        if value is not None:
            options.put(name, whole(name, value, 1, 2**63))
    for name, given in (("confidence", confidence), ("minutes", minutes)):
        if given is not None:
            options.put(name, number(name, given))
    run = model._run()
    report, error = ffi.new("struct dpmf_audit_report *"), None
    with UnnamedFiles() as files:
        release = private_options(model.get_params(), files)
        store = opener(ratings)(run, Reading(skip_bad=True, by_record=True))
        try:
            run.call(lib.dpmf_audit, store.pointer, release.pointer, options.pointer, run.pointer,
                     report, names=files.names)
        except PrivacyError as failure:
            if failure.code != lib.DPMF_ERR_PRIVACY_ACCUSED:
                raise
            error = failure
    result = plain(report[0], AUDIT)
    result["findings"] = [ffi.string(report.finding[i]).decode() for i in range(report.n)]
    if error is not None:
        accused = AuditFailed(error.code, error.message, error.hint)
        accused.report = result
        raise accused from None
    return result
