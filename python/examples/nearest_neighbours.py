"""Recommendations from an index of nearest neighbours, for catalogues too large to score every
item.

An index knows cosines, where a predicted rating is an inner product plus a bias.
`export(cosine=True)` writes item vectors with two more numbers, whose cosines with (u, 1, 0) order
items as predicted ratings do. Any index takes them; this uses those of hnswlib, usearch and faiss
that are installed (``pip install usearch faiss-cpu hnswlib``), and NumPy alone where none is.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Callable

import numpy as np

import dpmf


def by_hnswlib(vectors: np.ndarray, asked: np.ndarray, n: int) -> np.ndarray:
    import hnswlib
    index = hnswlib.Index(space="cosine", dim=vectors.shape[1])
    index.init_index(max_elements=len(vectors), ef_construction=200, M=16)
    index.add_items(vectors)
    index.set_ef(max(200, n))
    return index.knn_query(asked, k=n)[0]


def by_usearch(vectors: np.ndarray, asked: np.ndarray, n: int) -> np.ndarray:
    from usearch.index import Index
    index = Index(ndim=vectors.shape[1], metric="cos", dtype="f32")
    index.add(np.arange(len(vectors)), vectors)
    return np.asarray(index.search(asked, n).keys).astype(int)


def by_faiss(vectors: np.ndarray, asked: np.ndarray, n: int) -> np.ndarray:
    import faiss
    index = faiss.IndexHNSWFlat(vectors.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.add(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return index.search(asked, n)[1]


def by_numpy(vectors: np.ndarray, asked: np.ndarray, n: int) -> np.ndarray:
    cosines = asked @ vectors.T / np.linalg.norm(vectors, axis=1)
    return np.argsort(-cosines, axis=1)[:, :n]


# Each: the numbers of the n rows with the largest cosines, the best first, for each row asked.
INDEXES: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "hnswlib": by_hnswlib,
    "usearch": by_usearch,
    "faiss": by_faiss,
    "NumPy": by_numpy,
}


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

    exact = [
        model.recommend(user, n=10, exclude_seen=False, by="rating").items
        for user in model.users_[:100]
    ]
    for name, index in INDEXES.items():
        try:
            found = model.items_[index(vectors, asked[:100], 10)]
        except ImportError:
            print(f"{name} is not installed")
            continue
        shared = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, exact)])
        print(f"of the ten best items {name} finds {100 * shared:.0f} %")


if __name__ == "__main__":
    main()
