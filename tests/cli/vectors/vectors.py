"""Models and their exports, read without dpmf and compared bit for bit.

vectors.py make FILE              a checkpoint with ids and numbers of every kind
vectors.py npy|csv|sqlite MODEL OUTPUT [users]
"""
import csv
import json
import os
import sqlite3
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from seal_checkpoint import sealed  # noqa: E402


def read(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        body = file.read()
    types = {"F32": "<f4", "I64": "<i8", "U8": "u1"}
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        arrays[name] = np.frombuffer(body[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    for side in ("item", "user"):
        if side + "_id_offsets" in arrays:
            data, at = arrays[side + "_id_bytes"].tobytes(), arrays[side + "_id_offsets"]
            arrays[side + "_ids"] = [data[a:b] for a, b in zip(at[:-1], at[1:])]
    return arrays, header["__metadata__"]


def make(path):
    random = np.random.default_rng(7)
    users, items, k = 40, 60, 5

    def numbers(*shape):
        bits = random.integers(0, 2**32, size=shape, dtype=np.uint64).astype(np.uint32)
        values = bits.view("<f4").copy()
        values[~np.isfinite(values)] = -0.0
        return values

    odd = [
        b'a,b', b'"', b' x ', b'\xff\xfe', "Ærø".encode(), b'a\x00b', b'\xef\xbb\xbfid', b'NULL',
        b'-1', b'1e5'
    ]
    item_ids = odd + [str(i).encode() for i in range(items - len(odd))]
    user_ids = [b"u%d" % i for i in range(users)]

    def offsets(ids):
        return np.cumsum([0] + [len(i) for i in ids]).astype("<i8")

    state = {
        "epoch": 1, "seed": "1", "learning_rate": 0.05, "decay": -1, "regularization": 0.1,
        "ratings": "8", "fingerprint": "0", "best_valid": 0.75, "best_epoch": 1
    }
    metadata = {
        "dpmf.kind": "checkpoint", "dpmf.format": "2", "dpmf.version": "0.1.0",
        "dpmf.offset": "3.3", "dpmf.min": "1", "dpmf.max": "5",
        "dpmf.provenance": '{"made":{"by":["a test",2.5,true,null]}}',
        "dpmf.state": json.dumps(state, separators=(",", ":")), "dpmf.checksum": "0" * 16
    }
    tensors = [("user_id_offsets", "I64", offsets(user_ids)),
               ("item_id_offsets", "I64", offsets(item_ids)),
               ("user_factors", "F32", numbers(users, k)),
               ("item_factors", "F32", numbers(items, k)), ("user_biases", "F32", numbers(users)),
               ("item_biases", "F32", numbers(items)),
               ("user_id_bytes", "U8", np.frombuffer(b"".join(user_ids), "u1")),
               ("item_id_bytes", "U8", np.frombuffer(b"".join(item_ids), "u1"))]
    header, at = {"__metadata__": metadata}, 0
    for name, kind, array in tensors:
        header[name] = {
            "dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]
        }
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(
            sealed(
                struct.pack("<Q", len(text)) + text + b"".join(a.tobytes() for _, _, a in tensors)))


def same(name, got, wanted):
    got = np.ascontiguousarray(got)
    assert got.dtype == np.dtype("<f4") and got.shape == wanted.shape, (name, got.dtype, got.shape)
    assert got.tobytes() == wanted.tobytes(), name
    print(f"{name}: the same bits")


def check_facts(facts, metadata, arrays):
    assert facts["kind"] == metadata["dpmf.kind"]
    assert float(facts["offset"]) == float(metadata["dpmf.offset"])
    assert (float(facts["min"]) == float(metadata["dpmf.min"]) and
            float(facts["max"]) == float(metadata["dpmf.max"]))
    assert int(facts["items"]) == len(arrays["item_ids"])
    assert int(facts["factors"]) == arrays["item_factors"].shape[1]
    print("facts: the same")


def check_npy(arrays, sides, output):
    for side in sides:
        same(side + " vectors", np.load(f"{output}/{side}_vectors.npy"), arrays[side + "_factors"])
        same(side + " biases", np.load(f"{output}/{side}_biases.npy"), arrays[side + "_biases"])
        with open(f"{output}/{side}_ids.txt", "rb") as file:
            assert file.read().split(b"\n") == arrays[side + "_ids"] + [b""]
        print(f"{side} ids: the same")


def check_csv(arrays, sides, output):
    for side in sides:
        with open(f"{output}/{side}s.csv", newline="", encoding="utf-8",
                  errors="surrogateescape") as file:
            text = file.read()
        rows = list(csv.reader(text.replace("\0", "\udc00").splitlines(True)))
        head = rows.pop(0)
        first = head.index("bias")
        ids = [r[0].replace("\udc00", "\0").encode("utf-8", "surrogateescape") for r in rows]
        assert ids == arrays[side + "_ids"]
        # As doubles first, and at once: both must give the same floats.
        with np.errstate(under="ignore"):
            numbers = np.array([[float(x) for x in r[first:]] for r in rows]).astype("<f4")
            at_once = np.array([[np.float32(x) for x in r[first:]] for r in rows], "<f4")
        assert numbers.tobytes() == at_once.tobytes()
        same(side + " vectors", numbers[:, 1:], arrays[side + "_factors"])
        same(side + " biases", numbers[:, 0], arrays[side + "_biases"])
        if first > 1:
            print("titles:", sum(r[1] != "" for r in rows))


def check_sqlite(arrays, sides, output):
    database = sqlite3.connect(output)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for side in sides:
        rows = database.execute(
            f"SELECT number, id, bias, vector FROM {side}s JOIN {side}_vectors USING (number) "
            "ORDER BY number").fetchall()
        assert [r[0] for r in rows] == list(range(len(rows)))
        ids = [r[1] if isinstance(r[1], bytes) else r[1].encode() for r in rows]
        assert ids == arrays[side + "_ids"]
        k = arrays[side + "_factors"].shape[1]
        vectors = np.frombuffer(b"".join(r[3] for r in rows), "<f4").reshape(len(rows), k)
        same(side + " vectors", vectors, arrays[side + "_factors"])
        same(side + " biases",
             np.array([r[2] for r in rows], "<f8").astype("<f4"), arrays[side + "_biases"])
    return dict(database.execute("SELECT * FROM model")), database


def flatten(value, path=""):
    if isinstance(value, (dict, list)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from flatten(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def main():
    what, model, *rest = sys.argv[1:]
    if what == "make":
        return make(model)
    output, sides = rest[0], ["item", "user"] if "users" in rest else ["item"]
    arrays, metadata = read(model)
    document = "statement" if metadata["dpmf.kind"] == "release" else "provenance"
    if what == "sqlite":
        facts, database = check_sqlite(arrays, sides, output)
        assert facts[document] == metadata["dpmf." + document]
        told = dict(database.execute(f"SELECT field, value FROM {document}"))
        assert told == dict(flatten(json.loads(metadata["dpmf." + document])))
    else:
        {"npy": check_npy, "csv": check_csv}[what](arrays, sides, output)
        with open(f"{output}/model.json", encoding="utf-8") as file:
            facts = json.load(file)
        with open(f"{output}/{document}.json", encoding="utf-8") as file:
            assert file.read() == metadata["dpmf." + document] + "\n"
        assert os.path.exists(f"{output}/user_ids.txt") == (what == "npy" and "user" in sides)
    check_facts(facts, metadata, arrays)
    print(document + ": the same")


main()
