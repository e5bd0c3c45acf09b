"""Movie night: which film will both of us like?

A cinema knows what its guests thought of its films, and publishes a release that says next to
nothing about any one of them. Ann and Bob take it home. Each rates a few films there; their ratings
go nowhere. What they tell each other is only what each expects of the films that neither has seen.

    python3 movie_night.py
"""

import tempfile
from pathlib import Path

import numpy as np

import dpmf

# ---- a made-up cinema ----------------------------------------------------------------------------

FIRST = ["Silent", "Crimson", "Last", "Paper", "Midnight", "Hollow", "Golden", "Distant", "Broken",
         "Winter"]
SECOND = ["Harbour", "Orchard", "Engine", "Letters", "Parade", "Mountain"]
KINDS = ["slow", "funny", "loud"]


def make_cinema(rng, n_guests=6000, per_guest=25):
    """Films, what each is like, and ratings of guests: tastes for slow, funny and loud films."""
    titles = [f"The {first} {second}" for second in SECOND for first in FIRST]
    films = rng.normal(size=(len(titles), len(KINDS)))
    tastes = rng.normal(size=(n_guests, len(KINDS)))
    users = np.repeat(np.arange(n_guests), per_guest)
    showing = len(titles) - 2  # two open next week: nobody has seen them, but the list has them
    seen = np.concatenate([rng.permutation(showing)[:per_guest] for _ in range(n_guests)])
    liking = np.einsum("ij,ij->i", tastes[users], films[seen]) + 0.5 * rng.normal(size=len(users))
    ratings = np.clip(np.round(3 + 0.8 * liking), 1, 5)
    return titles, films, users, seen, ratings


# ---- the cinema publishes ------------------------------------------------------------------------


def publish(titles, users, films, ratings, folder):
    """Makes a private release: the list of films and the scale are public, who rated what is
    not."""
    dpmf.init_ledger(folder / "ledger")
    model = dpmf.Model(epsilon=4, rating_range=(1, 5), catalogue=titles, ledger=folder / "ledger")
    model.fit(users, np.array(titles, dtype=object)[films], ratings)
    model.save(folder / "cinema.safetensors")
    return folder / "cinema.safetensors"


# ---- at home -------------------------------------------------------------------------------------


def rate_some(rng, titles, films, taste):
    """Eight films that someone saw, with what they thought of them."""
    seen = rng.permutation(len(titles))[:8]
    return {titles[i]: float(np.clip(np.round(3 + 0.8 * films[i] @ taste), 1, 5)) for i in seen}


def main():
    rng = np.random.default_rng(42)
    titles, films, users, seen, ratings = make_cinema(rng)
    with tempfile.TemporaryDirectory() as folder:
        path = publish(titles, users, seen, ratings, Path(folder))
        release = dpmf.load(path)  # checked: what it promises adds up
    promise = release.privacy_
    print(f"The cinema promises epsilon {promise['epsilon']:g} at delta {promise['delta']:g} "
          "to every guest.")

    # Ann likes it slow and funny, Bob funny and loud. Each has a vector, at home, and nowhere else.
    ann = release.fold_in(rate_some(rng, titles, films, np.array([1.5, 1.0, -0.5])))
    bob = release.fold_in(rate_some(rng, titles, films, np.array([-0.5, 1.0, 1.5])))
    for name, someone in (("Ann", ann), ("Bob", bob)):
        best = someone.recommend(n=3)
        listed = [f"{title} ({score:.1f})" for title, score in zip(best.items, best.scores)]
        print(f"{name} alone would see {', '.join(listed)}.")

    # The film that the one who likes it less likes most.
    fresh = [title for title in titles if title not in ann.ratings and title not in bob.ratings]
    worst = np.minimum(ann.predict(fresh), bob.predict(fresh))
    choice = fresh[int(np.argmax(worst))]
    print(f"Together they see {choice}: both should give it {worst.max():.1f} or more.")
    for name, someone in (("Ann", ann), ("Bob", bob)):
        why = someone.explain(choice)
        print(f"  {name} will like it because of {why.items[0]} ({why.shares[0]:+.2f}).")


if __name__ == "__main__":
    main()
