"""Makes the seeds of fuzz_parquet.c, which are test data of tests/cli/import/parquet.sh and of
tests/unit/test_parquet.c too: the same made-up rows by four writers, in all encodings and
compressions. Needs pyarrow, polars, duckdb, pandas and fastparquet, which no test does.

    python3 tests/fuzz/make_parquet_seeds.py FOLDER
"""

import os
import sys
import tempfile
from decimal import Decimal

import duckdb
import fastparquet
import polars
import pyarrow as pa
import pyarrow.parquet as pq

# As tests/cli/import/parquet.csv has them.
USER = ["ann", "bob", "ann", "someone with a longer name", "bob", "ann", "eve"]
ITEM = [10, 10, 20, 20, 30, 30, 10]
RATING = [5.0, 3.5, 1.0, 2.0, 4.0, 4.5, 3.0]
TIME = [1000000000, None, 1000000002, 1000000003, None, 1000000005, 1000000006]

folder = sys.argv[1]
table = pa.table({
    "user": pa.array(USER),
    "note": pa.array([[1, 2]] * len(USER)),
    "item": pa.array(ITEM, pa.int32()),
    "rating": pa.array(RATING, pa.float32()),
    "timestamp": pa.array(TIME, pa.int64()),
})
flat = table.drop_columns(["note"])


def seed(name, write, options=0):
    """A byte of options, and the file."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "seed.parquet")
        write(path)
        with open(path, "rb") as made, open(os.path.join(folder, name), "wb") as out:
            out.write(bytes([options]) + made.read())


def arrow(name, made=flat, options=0, **settings):
    settings = {"store_schema": False, "compression": "none", **settings}
    seed(name, lambda path: pq.write_table(made, path, **settings), options)


arrow("nested", table)
arrow("snappy", compression="snappy", use_dictionary=False, data_page_version="2.0")
arrow("gzip", compression="gzip", use_dictionary=False)
arrow("zstd", compression="zstd", use_dictionary=False, write_page_checksum=True)
arrow("lz4", compression="lz4", use_dictionary=False)
arrow("brotli", compression="brotli", use_dictionary=False)
arrow("groups", row_group_size=3, write_page_index=True)
arrow("pages", data_page_size=8, write_batch_size=2, data_page_version="2.0")
arrow("delta", use_dictionary=False, column_encoding={
    "user": "DELTA_BYTE_ARRAY", "item": "DELTA_BINARY_PACKED", "rating": "BYTE_STREAM_SPLIT",
    "timestamp": "DELTA_BINARY_PACKED"})
arrow("lengths", use_dictionary=False, column_encoding={
    "user": "DELTA_LENGTH_BYTE_ARRAY", "item": "BYTE_STREAM_SPLIT", "rating": "PLAIN",
    "timestamp": "PLAIN"})
arrow("nulls", flat.set_column(2, "rating", pa.array([5, None, 1, 2, 4, 4.5, 3], pa.float64())),
      options=1)
arrow("types", pa.table({
    "user": pa.array([b"0123456789abcdef", b"fedcba9876543210"], pa.uuid()),
    "item": pa.array([1, 2], pa.decimal128(20, 0)),
    "rating": pa.array([Decimal("1.5"), Decimal("-2.5")], pa.decimal128(6, 1)),
    "timestamp": pa.array([10**18, 0], pa.timestamp("ns"))}),
    use_deprecated_int96_timestamps=True)


def write_gaps(path):
    """Row groups without rows before, between and after those with some."""
    with pq.ParquetWriter(path, flat.schema, store_schema=False, compression="snappy",
                          use_dictionary=["user"]) as writer:
        for first, n in (0, 0), (0, 3), (3, 0), (3, 0), (3, 4), (7, 0):
            writer.write_table(flat.slice(first, n))


arrow("empty", flat.slice(0, 0), compression="snappy")
seed("gaps", write_gaps)
seed("polars", lambda path: polars.from_arrow(flat).write_parquet(path, compression="zstd"))
seed("fastparquet", lambda path: fastparquet.write(
    path, flat.drop_columns(["timestamp"]).to_pandas(), compression="SNAPPY", write_index=False))
duck = duckdb.connect()
duck.register("rows", flat)
seed("duckdb", lambda path: duck.execute(
    f"copy rows to '{path}' (format parquet, compression snappy, parquet_version v2)"))
