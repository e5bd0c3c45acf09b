"""A release, read from docs/formats/release.md alone: eight bytes of length, JSON, tensors. Nothing
of dpmf is used."""
import json
import struct

import numpy as np

TYPES = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8"), "U8": np.dtype("u1")}


class Release:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        metadata = header.pop("__metadata__")
        assert metadata["dpmf.kind"] == "release" and metadata["dpmf.format"] in ("1", "2")
        tensors = {}
        for name, entry in header.items():
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end],
                                          TYPES[entry["dtype"]]).reshape(entry["shape"])
        self.factors = tensors["item_factors"].astype(np.float64)
        self.biases = tensors["item_biases"].astype(np.float64)
        self.counts = (tensors["item_counts"].astype(np.float64)
                       if metadata["dpmf.format"] == "2" else None)
        offsets, text = tensors["item_id_offsets"], tensors["item_id_bytes"].tobytes()
        self.ids = [text[offsets[i] : offsets[i + 1]].decode() for i in range(len(offsets) - 1)]
        self.number = {id: i for i, id in enumerate(self.ids)}
        self.offset, self.min, self.max, self.factor_penalty, self.bias_penalty = (
            float(metadata["dpmf." + key])
            for key in ("offset", "min", "max", "factor_penalty", "bias_penalty")
        )

    def fit(self, items, ratings):
        """Someone's vector and bias: the minimum of the sum of squares, by a dense solve in
        double."""
        k = self.factors.shape[1]
        columns = np.hstack([self.factors[items], np.ones((len(items), 1))])
        rest = np.asarray(ratings, np.float64) - self.offset - self.biases[items]
        penalty = np.diag([self.factor_penalty] * k + [self.bias_penalty])
        solution = np.linalg.solve(columns.T @ columns + penalty, columns.T @ rest)
        return solution[:k], solution[k]

    def ratings(self, items, ratings):
        """The predicted rating of every item."""
        vector, bias = (self.fit(items, ratings) if len(items) else
                        (np.zeros(self.factors.shape[1]), 0))
        return self.offset + self.biases + bias + self.factors @ vector

    def parts(self, items, ratings, taste=0.5):
        """Crowd and taste of every item, and someone's habit, as docs/goals.md defines them; each
        item of theirs with its share in the taste for all items. By a dense solve; columns beyond
        64 would come in blocks."""
        k = self.factors.shape[1]
        assert k <= 64
        unit = (self.max - self.min) / 4
        popular = self.counts / self.counts.sum()
        crowd = (np.log(self.counts / self.counts.mean()) + 0.3 / unit * self.biases).astype(
            np.float32).astype(float)
        if len(items) == 0:
            return crowd, 0.0, np.zeros_like(crowd), np.zeros((0, len(crowd)))
        mean = popular @ self.factors
        centred = self.factors - mean
        covariance = (centred * popular[:, None]).T @ centred
        weights = np.clip((np.asarray(ratings, np.float32).astype(float) - self.min) / unit - 0.5,
                          -0.5, 1)
        matrix = np.abs(weights).sum() * covariance + np.eye(k) * np.trace(covariance) / 2
        chosen = ((weights[:, None] * centred[items]) @ np.linalg.solve(matrix, centred.T)
                  if k else 0)
        vector, bias = self.fit(items, ratings)
        columns = np.hstack([self.factors[items], np.ones((len(items), 1))])
        rest = np.asarray(ratings, np.float64) - self.offset - self.biases[items]
        system = columns.T @ columns + np.diag([self.factor_penalty] * k + [self.bias_penalty])
        rated = (rest[:, None] * columns) @ np.linalg.inv(system)[:, :k] @ centred.T
        shares = 2 * taste * (chosen + 0.3 / unit * rated)
        return crowd, 0.3 / unit * (bias + vector @ mean), shares.sum(0), shares

    def scores(self, items, ratings, taste=0.5):
        """What lists are ordered by."""
        if self.counts is None:
            return self.ratings(items, ratings)
        crowd, habit, own, _ = self.parts(items, ratings, taste)
        return crowd + habit + own

    def cosines(self, item):
        """0 where a vector has no direction."""
        lengths = np.linalg.norm(self.factors, axis=1)
        products = lengths * lengths[item]
        return (self.factors @ self.factors[item]) / np.where(products > 0, products, 1)
