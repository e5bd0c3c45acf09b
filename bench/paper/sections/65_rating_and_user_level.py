"""What a release says about one rating and about one user, against its accuracy; and the paper's
figure for one "
  "rating,
tried on a case that is small enough to be exact."""
import math

import privacy_runs as runs
from report import Plot, Series, Table, Text

TITLE = "Rating level and user level"
PAPER = (
    "A user-level epsilon translates into epsilon/tau for one rating, so that its results lose "
    "almost no "
    "accuracy at a rating-level epsilon below 1 (tau = 200), and match the rating-level system "
    "of McSherry and "
    "Mironov; and a typical user's own loss is about epsilon/25.")
# The exact case: one user with one rating of one item whose bias is published, on ratings from 1 to
# 5.
TOY = {"epsilon": 10.0, "tau": 10, "rho": 10.0, "kappa": 1.0, "prior_precision": 4.0}
GRID = 4001


def log_densities(rating, epsilon, tau, rho, kappa, prior_precision):
    """The log density of the published bias on a grid, given that rating: the corrected target,
    exactly normalised."""
    span = 4 + kappa
    scale = epsilon / (tau * span * span)  # a = epsilon / B
    weight = min(rho, tau / 1)
    places = [-8 + 16 * i / (GRID - 1) for i in range(GRID)]
    logs = [
        -scale * weight * (rating - 3 - min(max(c, -2 - kappa), 2 + kappa))**2 -
        prior_precision * c * c / 2 for c in places
    ]
    top = max(logs)
    total = math.log(math.fsum(math.exp(x - top) for x in logs)) + top
    return [x - total for x in logs]


def exact_case(toy):
    """The largest change of any outcome's log density when the one rating goes from lowest to
    highest."""
    low, high = (log_densities(rating, **toy) for rating in (1, 5))
    found = max(abs(a - b) for a, b in zip(low, high))
    return {**toy, "found": found, "claimed": toy["epsilon"] / toy["tau"],
            "derived": 2 * toy["rho"] * toy["epsilon"] / toy["tau"]}


def measure(work):
    dataset = work.dataset("movielens")
    return {
        "label": dataset.label, "toy": work.once("exact", exact_case, TOY),
        "open": runs.open_runs(work, dataset), "posterior": [
            runs.posterior_run(work, dataset, epsilon)
            for epsilon in runs.POSTERIOR_EPSILONS[work.scale]
        ], "proven": [
            runs.proven_run(work, dataset, "residual", epsilon)
            for epsilon in runs.PROVEN_EPSILONS[work.scale]
        ],
    }


def mean(run):
    return runs.mean_and_spread(run["rmse"])[0]


def one_rating(run):
    return run["statement"]["conditional"]["one_rating"]


def group_of_two(run):
    return next(g["epsilon"] for g in run["statement"]["group"] if g["ids"] == 2)


def show(data):
    posterior, proven, toy, open_ = runs.need(data, "posterior", "proven", "toy", "open")
    tau = posterior[0]["statement"]["conditional"]["max_ratings"]
    rows = [["posterior (conditional)", r["epsilon"], group_of_two(r), one_rating(r)["replaced"],
             one_rating(r)["added_or_removed"], r["epsilon"] / tau, mean(r)] for r in posterior]
    rows += [[
        "residual (proven)", r["epsilon"],
        group_of_two(r),
        group_of_two(r),
        group_of_two(r), None,
        mean(r)
    ] for r in proven]
    columns = [
        "mechanism", "one user", "two ids", "one rating replaced", "one rating added or removed",
        "the paper's claim, any rating", "test RMSE"
    ]
    xs = [one_rating(r)["replaced"] for r in posterior] + [r["epsilon"] / tau for r in posterior]
    xs += [group_of_two(r) for r in proven]
    return [
        Text(
            f"On {data['label']}. What the statements of this run's releases say. One rating "
            "replaced costs up "
            f"to 2 rho epsilon / tau under the posterior (tau = {tau}, rho = 1): half from the "
            "loss, half from "
            "the normalisation. epsilon / tau holds for one rating added or removed, for users "
            "of at most tau "
            "ratings. For the proven mechanism a user whose ratings change is one removed and "
            "another added, "
            "the figure of two ids, and none that is smaller is derived for one rating: a "
            "contribution is "
            "divided by its norm, so that one rating can turn all of it."),
        Table(
            "levels", columns, rows,
            "Epsilons of this run's statements. The paper's claim is its formula, epsilon / tau, "
            "at the same "
            "epsilon."),
        Plot(
            "rmse", "Test error by the epsilon of one rating", "epsilon of one rating", "test RMSE",
            [
                Series("posterior, one rating replaced", [(one_rating(r)["replaced"], mean(r))
                                                          for r in posterior]),
                Series("posterior, by the paper's epsilon / tau", [(r["epsilon"] / tau, mean(r))
                                                                   for r in posterior]),
                Series("residual, all ratings of a user replaced", [(group_of_two(r), mean(r))
                                                                    for r in proven]),
                runs.level("C-SGD, not private", open_["sgd"], xs, Series)
            ], log_x=True, note=
            "At an epsilon at which the others protect one rating, the proven mechanism protects "
            "them all."
        ),
        Table(
            "exact", [
                "epsilon", "tau", "rho", "the paper's epsilon / tau", "found, exactly",
                "bound, 2 rho epsilon / tau"
            ],
            [[toy["epsilon"], toy["tau"], toy["rho"], toy["claimed"], toy["found"], toy["derived"]]
             ],
            "One user with one rating of an item whose bias is published: the largest change of "
            "the log density "
            "when the rating goes from 1 to 5, by adding up a grid."),
        Text(
            "A typical user's loss, the paper's epsilon/25, depends on that user's ratings and "
            "on everyone "
            "else's: it is no differential privacy, and to publish it would tell about them. It "
            "is not computed "
            "here.")
    ]


def verdict(data):
    posterior, proven, toy, open_ = runs.need(data, "posterior", "proven", "toy", "open")
    below = [r for r in posterior if one_rating(r)["replaced"] <= 1]
    false = toy["found"] > toy["claimed"] * 1.0001
    said = (
        f"The paper's epsilon / tau is {'false' if false else 'not refuted'} for a rating that "
        "is replaced: "
        f"{toy['found']:.2f} in an exact case where it says {toy['claimed']:.2f}")
    if below:
        best = min(below, key=mean)
        said += (
            ". With the figure that holds, a rating-level epsilon of at most 1 leaves the "
            "posterior at an RMSE "
            f"of {mean(best):.4f}, {mean(best) - open_['sgd']:.3f} above C-SGD without privacy")
    users = [r for r in proven if r["epsilon"] <= 1]
    if users:
        two = math.ceil(100 * group_of_two(users[-1])) / 100
        said += (
            f"; the proven mechanism has {mean(users[-1]):.4f} at epsilon "
            f"{users[-1]['epsilon']:g} for whole "
            f"users, {two:.2f} for all ratings of one replaced")
    near = bool(below) and mean(min(below, key=mean)) - open_["sgd"] <= 0.01
    return ("confirmed" if near and not false else "not confirmed"), said + "."
