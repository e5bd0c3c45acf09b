"""Users who ask for more privacy than the others: what it costs them, and what it costs everyone
else."""
import privacy_runs as runs
from report import Plot, Series, Table, Text

TITLE = "Personalised privacy: who asks for more, and who pays for it"
PAPER = (
    "A user's weight in the loss sets that user's own epsilon, linearly and without touching "
    "anyone else's: who "
    "wants perfect privacy gets the weight 0 and is as good as not in the data, the rest keep "
    "theirs. The paper "
    "proves it and measures no accuracy.")
# of the proven mechanism and of the posterior: everyone's epsilon, and the shares of users who ask
# for less
PROVEN, POSTERIOR = 5, 250
SHARES = {"tiny": (0.5,), "small": (0.1, 0.5, 0.9), "medium": (0.1, 0.25, 0.5, 0.75, 0.9),
          "full": (0.1, 0.25, 0.5, 0.75, 0.9)}
POSTERIOR_SHARES = {
    "tiny": (0.5, ), "small": (0.5, ), "medium": (0.25, 0.5, 0.75),
    "full": (0.1, 0.25, 0.5, 0.75, 0.9)
}
TENTH, NOTHING = 0.1, 0.0  # what they ask for, as a share of everyone's epsilon
DRAWS = {"tiny": 1, "small": 2, "medium": 5, "full": 10}
HARMLESS = 0.01  # a rise of the error below this is taken for little, ...
SAME = 0.002  # ... and a difference below this for none


def groups(work, dataset, share):
    """The first so many users of a fixed random order, and the test ratings of them and of the
    others, as files."""
    users = runs.users_in_order(work, dataset)
    asking = set(users[:round(share * len(users))])
    rows = runs.read_store(work, dataset.test)
    paths = []
    for name, inside in (("asking", True), ("others", False)):
        path = work.temporary(f"{name}.csv")
        runs.write_table(path, ["user", "item", "rating"],
                         [r for r in rows if (r[0] in asking) == inside])
        paths.append(path)
    return sorted(asking), paths


def releases(work, dataset, mechanism, epsilon, share, asked, draws, options):
    """Releases where that share of users asked for asked * epsilon (None: nobody did): the errors
    of both groups."""
    asking, tests = groups(work, dataset, share)
    wishes = []
    if asked is not None:
        table = work.temporary("wishes.csv")
        runs.write_table(table, ["user", "epsilon"],
                         [[user, f"{asked * epsilon:g}"] for user in asking])
        wishes = ["--user-privacy", table]
    found = {"asking": [], "others": []}
    for _ in range(draws):
        path, _ = runs.make_release(work, dataset, mechanism, epsilon, [*options, *wishes])
        for name, test in zip(("asking", "others"), tests):
            found[name].append(runs.test_error(work, dataset, path, test))
        statement = work.dpmf_json("privacy", "show", path)[0]
        runs.delete(path)
    runs.delete(*tests)
    said = {key: statement[key] for key in ("kind", "epsilon", "personalised")}
    return {**found, "users": len(asking), "statement": said}


def panel(work, dataset, title, mechanism, epsilon, shares, draws, options):
    found = []
    for share in shares:
        found.append({"share": share})
        for name, asked in (("nobody", None), ("tenth", TENTH), ("nothing", NOTHING)):
            found[-1][name] = work.once(f"{mechanism}.{share:g}.{name}", releases, work, dataset,
                                        mechanism, epsilon, share, asked, draws, options)
    return {"title": title, "mechanism": mechanism, "epsilon": epsilon, "shares": found}


def measure(work):
    dataset = work.dataset("movielens")
    scale = work.scale
    return {
        "label": dataset.label, "panels": [
            panel(work, dataset, "residual, proven", "residual", PROVEN, SHARES[scale],
                  DRAWS[scale], []),
            panel(work, dataset, "posterior, conditional", "posterior", POSTERIOR,
                  POSTERIOR_SHARES[scale], 1, list(runs.POSTERIOR_OPTIONS))
        ]
    }


def cost(at, asked, group):
    """How much higher the error of a group is than where nobody asked."""
    return runs.mean_and_spread(at[asked][group])[0] - runs.mean_and_spread(at["nobody"][group])[0]


ASKED = (("tenth", "a tenth"), ("nothing", "0"))
GROUPS = (("asking", "those who ask"), ("others", "the others"))


def show(data):
    panels, = runs.need(data, "panels")
    shown = [
        Text(
            f"On {data['label']}. Some users ask for a tenth of everyone's epsilon, or for 0, "
            "which leaves them "
            "out. A cost is the test RMSE of a group less that of the same users where nobody "
            "asks. Everyone "
            "folds in their own vector at home, those who asked too: they use what the others' "
            "ratings made."
        )
    ]
    for p in panels:
        if len(p["shares"]) > 1:
            series = [Series(f"{who}, asked for {text}",
                             [(at["share"], cost(at, asked, group)) for at in p["shares"]])
                      for asked, text in ASKED for group, who in GROUPS]
            shown.append(
                Plot(p["mechanism"],
                     f"Cost of personal wishes: {p['title']}, epsilon {p['epsilon']:g}",
                     "share of users who ask", "test RMSE above that where nobody asks", series))
    rows = []
    for p in panels:
        for at in p["shares"]:
            for asked, _ in (("nobody", ""), *ASKED):
                wish = {"nobody": p["epsilon"], "tenth": TENTH * p["epsilon"], "nothing": 0}[asked]
                errors = [runs.mean_and_spread(at[asked][group])[0] for group, _ in GROUPS]
                costs = [cost(at, asked, group) for group, _ in GROUPS]
                rows.append([p["mechanism"], p["epsilon"], at["share"], wish, *errors, *costs,
                             len(at[asked]["asking"])])
    columns = [
        "mechanism", "epsilon of all", "share who ask", "their epsilon", "RMSE: those who ask",
        "RMSE: the others", "cost: those who ask", "cost: the others", "draws"
    ]
    shown.append(Table("costs", columns, rows))
    return shown


def verdict(data):
    panels, = runs.need(data, "panels")
    said, little, fair = [], True, True
    for p in panels:
        if not all(at["tenth"]["statement"]["personalised"] for at in p["shares"]):
            raise runs.Failure("a release with wishes does not say so in its statement")
        half = [at for at in p["shares"] if at["share"] <= 0.5]
        if not half:
            raise runs.Failure("no share of a half or less was run")
        at = half[-1]
        own, others = cost(at, "nothing", "asking"), cost(at, "nothing", "others")
        little = little and max(own, others) <= HARMLESS
        fair = fair and own <= others + SAME
        said.append(
            f"{p['title']}, epsilon {p['epsilon']:g}: when {100 * at['share']:.0f} % of users "
            "leave themselves "
            f"out, their own RMSE changes by {own:+.4f} and the others' by {others:+.4f}")
    text = "; ".join(said) + "."
    if fair:
        text += " Who asks pays no more than the others do, because vectors are fitted at home."
    if little:
        return "confirmed", text
    return "no claim", (text + " The paper claims nothing about accuracy; the protection itself "
                        "is in each statement.")
