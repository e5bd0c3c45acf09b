"""Writes into a checkpoint made by hand the checksum that docs/formats/checkpoint.md asks for, by a
second implementation of it.

    seal_checkpoint.py FILE...

The header must have the key dpmf.checksum with 16 digits. XXH3 is Debian's libxxhash, which the
build has anyway.
"""

import ctypes
import ctypes.util
import json
import math
import struct
import sys

KEY = b'"dpmf.checksum":"'
UNIT = 65536


def _xxh3():
    function = ctypes.CDLL(ctypes.util.find_library("xxhash") or
                           "libxxhash.so.0").XXH3_64bits_withSeed
    function.restype = ctypes.c_uint64
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    return lambda data, seed: function(data, len(data), seed)


def unit_of(entry):
    shape = entry["shape"]
    if entry["dtype"] != "F32":
        return UNIT
    if len(shape) == 1:
        return 4
    return 4 * shape[1] if len(shape) == 2 and 0 < 4 * shape[1] <= UNIT else UNIT


def sealed(data):
    """The bytes of the file with its checksum put in."""
    xxh3 = _xxh3()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = bytearray(data[:8 + length]), data[8 + length:]
    total = 0
    for name, entry in json.loads(bytes(header[8:])).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        assert (end - begin == math.prod(entry["shape"]) *
                {"F32": 4, "I64": 8, "U8": 1}[entry["dtype"]])
        for at in range(begin, end, unit_of(entry)):
            total += xxh3(bytes(body[at:min(at + unit_of(entry), end)]), at)
    place = header.index(KEY) + len(KEY)
    header[place:place + 16] = b"0" * 16
    header[place:place + 16] = b"%016x" % xxh3(bytes(header), total % 2**64)
    return bytes(header) + body


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(sealed(data))
