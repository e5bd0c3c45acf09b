"""Recommendations from an index of nearest neighbours, for catalogues too large to score every
item.

An index knows cosines, where a predicted rating is an inner product plus a bias.
`export(cosine=True)` writes item vectors with two more numbers, whose cosines with (u, 1, 0) order
items as predicted ratings do. Any index takes them; this uses hnswlib (``pip install hnswlib``),
and NumPy alone where it is not installed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import dpmf

try:
    import hnswlib
except ImportError:
    hnswlib = None


def nearest(vectors: np.ndarray, asked: np.ndarray, n: int) -> np.ndarray:
    """The numbers of the n rows with the largest cosines, the best first, for each row asked."""
    if hnswlib is None:
        print("hnswlib is not installed: NumPy compares with every item")
        return np.argsort(-(asked @ vectors.T), axis=1)[:, :n]
    index = hnswlib.Index(space="cosine", dim=vectors.shape[1])
    index.init_index(max_elements=len(vectors), ef_construction=200, M=16)
    index.add_items(vectors)
    index.set_ef(max(200, n))
    return index.knn_query(asked, k=n)[0]


def main() -> None:
    rng = np.random.default_rng(2)
    users, items = np.divmod(rng.permutation(400 * 300)[:20000], 300)
    tastes, kinds = rng.normal(size=(400, 4)), rng.normal(size=(300, 4))
    ratings = np.clip(np.round(3 + np.einsum("ij,ij->i", tastes[users], kinds[items])), 1, 5)
    model = dpmf.Model(n_factors=8, random_state=1).fit(users, items, ratings)

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "vectors"
        model.export(place, "npy", cosine=True, users=True, not_private=True)
        vectors = np.load(place / "item_cosine_vectors.npy")
        asked = np.load(place / "user_cosine_vectors.npy")

    found = model.items_[nearest(vectors, asked[:100], 10)]
    exact = [
        model.recommend(user, n=10, exclude_seen=False, by="rating").items
        for user in model.users_[:100]
    ]
    shared = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, exact)])
    print(f"of the ten best items the index finds {100 * shared:.0f} %")


if __name__ == "__main__":
    main()
