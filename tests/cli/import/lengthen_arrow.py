"""python3 lengthen_arrow.py SEED OUT BYTES: a fuzzer's seed (a byte of options, then an Arrow
stream) with BYTES more in the last user's id."""
import struct
import sys

seed, out, more = open(sys.argv[1], "rb").read()[1:], sys.argv[2], int(sys.argv[3])


def u32(at):
    return struct.unpack_from("<I", data, at)[0]


def field(table, number):
    """The place of a flatbuffer's field."""
    entry = table - struct.unpack_from("<i", data, table)[0] + 4 + 2 * number
    return table + struct.unpack_from("<H", data, entry)[0]


def follow(at):
    return at + u32(at)


data = bytearray(seed)
begin = 8 + u32(4)  # the batch's message, after the schema's
root = follow(begin + 8)
body = begin + 8 + u32(begin + 4)
buffers = follow(field(follow(field(root, 2)), 2)) + 4
(length,) = struct.unpack_from("<q", data, field(root, 3))
struct.pack_into("<q", data, field(root, 3), length + more)
place, old = struct.unpack_from("<qq", data, buffers + 32)
struct.pack_into("<q", data, buffers + 40, old + more)
for buffer in range(3, u32(buffers - 4)):
    at = buffers + 16 * buffer
    struct.pack_into("<q", data, at, struct.unpack_from("<q", data, at)[0] + more)
offsets, size = struct.unpack_from("<qq", data, buffers + 16)
last = body + offsets + size - 4
struct.pack_into("<i", data, last, struct.unpack_from("<i", data, last)[0] + more)
middle = body + place + old
open(out, "wb").write(data[:middle] + b"x" * more + data[middle:])
