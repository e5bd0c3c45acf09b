"""Hostile release files, through every verb that reads one: hostile_releases.py DPMF RELEASE.

RELEASE is small and sound. From it come files that are cut, that have a byte changed, and that lie
about lengths, offsets, shapes and numbers. Each must be refused with status 3 (dpmf privacy verify:
1 or 3) and one clear error that names the file, and nothing may be printed as if it were data. Says
"passed: WHAT" or "FAILED: WHAT" a line."""
import json
import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

dpmf, sound_path = sys.argv[1], sys.argv[2]
sound = open(sound_path, "rb").read()
every = 1 if os.environ.get("DPMF_TEST_LONG") else 5  # of the bytes to cut at and to change
(header_length,) = struct.unpack_from("<Q", sound)
header = sound[8 : 8 + header_length].decode().rstrip()
body = sound[8 + header_length :]
entries = json.loads(header)
assert json.dumps(entries, separators=(",", ":"),
                  ensure_ascii=False) == header, ("lies would be told by their form")
NAMES = ("item_id_offsets", "item_factors", "item_biases", "item_id_bytes")

VERBS = {
    "recommend --ratings": ["recommend", "FILE", "--ratings", "dune:5"],
    "recommend --history": ["recommend", "FILE", "--history", "history.csv"],
    "predict": ["predict", "FILE", "pairs.csv", "--history", "history.csv"],
    "predict --ratings": ["predict", "FILE", "--ratings", "dune:5"],
    "similar": ["similar", "FILE", "--item", "dune"],
    "explain": ["explain", "FILE", "--item", "dune", "--ratings", "solaris:5"],
    "evaluate": ["evaluate", "FILE", "test.csv", "--history", "history.csv"],
    "describe": ["describe", "FILE"],
    "privacy show": ["privacy", "show", "FILE"],
    "privacy verify": ["privacy", "verify", "FILE"],
}
with open("history.csv", "w") as file:
    file.write("user,item,rating\nann,dune,5\nann,brazil,2\n")
with open("test.csv", "w") as file:
    file.write("user,item,rating\nann,solaris,4\n")
with open("pairs.csv", "w") as file:
    file.write("ann,dune\n")

# ---- files ---------------------------------------------------------------------------------------


def release(text, data=body, length=None):
    """A file of this header, padded as the format wants it, unless its length is said to be
    another."""
    encoded = text if isinstance(text, bytes) else text.encode()
    encoded += b" " * (-len(encoded) % 8)
    return struct.pack("<Q", len(encoded) if length is None else length) + encoded + data


def with_entry(name, **changes):
    changed = json.loads(header)
    changed[name].update(changes)
    return release(json.dumps(changed, separators=(",", ":"), ensure_ascii=False))


def with_metadata(key, value):
    changed = json.loads(header)
    if value is None:
        del changed["__metadata__"][key]
    else:
        changed["__metadata__"][key] = value
    return release(json.dumps(changed, separators=(",", ":"), ensure_ascii=False))


def with_data(name, offset, format, *values):
    begin = entries[name]["data_offsets"][0] + offset
    data = bytearray(body)
    struct.pack_into(format, data, begin, *values)
    return release(header, bytes(data))


def offsets_of(name):
    return entries[name]["data_offsets"]


def lies():
    n, k = entries["item_factors"]["shape"]
    nan, infinite = float("nan"), float("inf")
    first, last = offsets_of(NAMES[0]), offsets_of(NAMES[-1])

    yield "nothing", b""
    yield "a few bytes", sound[:5]
    yield "a length and nothing else", sound[:8]
    for length in (0, 1, 7, 8, len(sound) - 7, len(sound), 10**8, 2**31, 2**32 + 8, 2**63,
                   2**64 - 8, 2**64 - 1):
        yield f"a header said to be {length} long", release(header, length=length)
    yield "a header of 100 MB of blanks", struct.pack("<Q", 100 << 20) + b" " * (100 << 20)
    yield "a header of 60 MB of one key", release('{"' + "x" * (60 << 20) + '":1}')

    yield "deep JSON", release("[" * 100000)
    yield "deep JSON, closed", release('{"__metadata__":' + '{"a":' * 50000 + "1" + "}" * 50001)
    yield "a deep shape", release(
        header.replace(f'"shape":[{n},{k}]', '"shape":' + "[" * 20000 + "]" * 20000))
    yield "a deep statement", with_metadata("dpmf.statement", "[" * 100000)
    yield "no JSON", release("safetensors are no JSON")
    yield "an array", release("[1,2,3]")
    yield "a number", release("5")
    yield "JSON and more", release(header + "{}")
    yield "JSON cut short", release(header[:-1])
    yield "blanks before the header", release(" " + header)
    yield "a byte order mark", release("\ufeff" + header)
    yield "bytes that are no UTF-8", release(header.encode().replace(b"release", b"rel\xff\xfease",
                                                                     1))
    yield "NUL in the header", release(header.replace("release", "rel\0ase", 1))
    yield "a header of more blanks than needed", release(header + " " * 64)

    for name in NAMES:
        begin, end = offsets_of(name)
        changed = json.loads(header)
        del changed[name]
        yield f"{name} missing", release(json.dumps(changed, separators=(",", ":")))
        yield f"{name} twice", release(header[:-1] + f',"{name}":' +
                                       json.dumps(entries[name], separators=(",", ":")) + "}")
        yield f"{name} of another type", with_entry(name, dtype="F16")
        yield f"{name} of no type", with_entry(name, dtype=5)
        yield f"{name} at the end of the world", with_entry(
            name, data_offsets=[2**62, 2**62 + end - begin])
        yield f"{name} beyond the file", with_entry(
            name, data_offsets=[begin + len(body), end + len(body)])
        yield f"{name} backwards", with_entry(name, data_offsets=[end, begin])
        yield f"{name} before the data", with_entry(name, data_offsets=[-8, end - begin - 8])
        yield f"{name} at a half", with_entry(name, data_offsets=[begin + 0.5, end + 0.5])
        yield f"{name} with one offset", with_entry(name, data_offsets=[begin])
        yield f"{name} with three offsets", with_entry(name, data_offsets=[begin, end, end])
        yield f"{name} without a shape", with_entry(name, shape=None)
        yield f"{name} of too many dimensions", with_entry(name, shape=[1] * 100)
        yield f"{name} of a negative size", with_entry(name, shape=[-n, -k])
        yield f"{name} as large as a number can be", with_entry(name, shape=[2**63, 2])
        yield f"{name} whose size wraps around", with_entry(name, shape=[2**62, 4, n, k])
    yield "overlapping tensors", with_entry(
        "item_biases",
        data_offsets=[offsets_of("item_factors")[0],
                      offsets_of("item_factors")[0] + 4 * n])
    yield "two tensors at one place", with_entry(NAMES[-1], data_offsets=first,
                                                 shape=[first[1] - first[0]])
    yield "a hole before the data", release(
        json.dumps(
            {
                key: value if key == "__metadata__" else
                {**value, "data_offsets": [offset + 8 for offset in value["data_offsets"]]}
                for key, value in entries.items()
            }, separators=(",", ":"), ensure_ascii=False), b"\0" * 8 + body)
    yield "a hole between tensors", release(
        header.replace(f'[{last[0]},{last[1]}]', f'[{last[0] + 8},{last[1] + 8}]'),
        body[:last[0]] + b"\0" * 8 + body[last[0]:])
    yield "more data than tensors", release(header, body + b"more")
    yield "less data than tensors", release(header, body[:-1])
    yield "no data", release(header, b"")
    yield "more items than there are", with_entry("item_biases", shape=[n + 1])
    yield "a width of 0 where there are numbers", with_entry("item_factors", shape=[n, 0])
    yield "a width beyond 4096", with_entry("item_factors", shape=[1, n * k * 4097])

    for name, count in (("item_factors", n * k), ("item_biases", n)):
        for value in (nan, infinite, -infinite):
            yield f"{value} in {name}", with_data(name, 4 * (count - 1), "<f", value)
    yield "ids that begin later", with_data("item_id_offsets", 0, "<q", 1)
    yield "ids that go back", with_data("item_id_offsets", 8, "<q", 2**40)
    yield "ids before the text", with_data("item_id_offsets", 8, "<q", -1)
    yield "an id of no bytes", with_data("item_id_offsets", 8, "<q", 0)
    yield "ids beyond the text", with_data("item_id_offsets", 8 * n, "<q", 2**63 - 1)

    for key in entries["__metadata__"]:
        yield f"without {key}", with_metadata(key, None)
        yield f"{key} that is no text", with_metadata(key, 5)
        yield f"{key} that is empty", with_metadata(key, "")
        yield f"{key} of a megabyte", with_metadata(key, "x" * (1 << 20))
    for key in ("dpmf.offset", "dpmf.min", "dpmf.max", "dpmf.factor_penalty", "dpmf.bias_penalty"):
        for value in ("nan", "inf", "-inf", "1e999", "0x1p3", "1,5", "-1e308"):
            yield f"{key} of {value}", with_metadata(key, value)
    yield "another kind", with_metadata("dpmf.kind", "checkpoint")
    yield "a kind that nobody knows", with_metadata("dpmf.kind", "relic")
    yield "another format", with_metadata("dpmf.format", "2")
    yield "a key that does not belong", with_metadata("dpmf.note", "user 7 likes dune")
    yield "another digest", with_metadata("dpmf.digest", "0" * 16)


# ---- what dpmf makes of them ---------------------------------------------------------------------


def refuse(number, data, verb):
    """Why the file was not refused as it should be, or None."""
    path = f"hostile{number}.safetensors"
    with open(path, "wb") as file:
        file.write(data)
    arguments = [path if word == "FILE" else word for word in VERBS[verb]]
    try:
        done = subprocess.run([dpmf, *arguments], capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        return f"{verb} does not end"
    finally:
        os.unlink(path)
    allowed = (1, 3) if verb == "privacy verify" else (3,)
    if done.returncode not in allowed:
        return (
            f"{verb} ended with {done.returncode}: "
            f"{done.stderr.decode(errors='replace').strip()[-300:]}"
        )
    message = done.stderr.decode(errors="replace").splitlines()
    if not message or not message[0].startswith(f"dpmf: error: {path}: ") or len(message) > 2:
        return f"{verb} says: {message}"
    if done.stdout and verb != "privacy verify":
        return f"{verb} printed {done.stdout[:100]!r}"
    return None


def check(name, cases):
    """Cases are (what, bytes, verb)."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(
            pool.map(lambda case: refuse(case[0], case[1][1], case[1][2]), enumerate(cases)))
    wrong = [f"{case[0]}: {why}" for case, why in zip(cases, results) if why]
    print(f"FAILED: {name}: {wrong[0]} (and {len(wrong) - 1} more)"
          if wrong else f"passed: {name} ({len(cases)} runs)")
    return not wrong


verbs = list(VERBS)
accepted = [
    verb for verb in verbs
    if subprocess.run([dpmf, *[sound_path if word == "FILE" else word
                               for word in VERBS[verb]]], capture_output=True).returncode
]
print(f"FAILED: the sound release: {accepted}"
      if accepted else "passed: the sound release is taken by every verb")
good = not accepted
told = list(lies())
small = [lie for lie in told if len(lie[1]) < 1 << 19]
large = [lie for lie in told if len(lie[1]) >= 1 << 19]
share = 1 if every == 1 else 3  # of the verbs, other ones for each lie
good &= check(f"lies, each through {'every verb' if share == 1 else 'a third of the verbs'}",
              [(*lie, verb) for i, lie in enumerate(small)
               for j, verb in enumerate(verbs) if (i + j) % share == 0],
              )
good &= check("headers of many megabytes",
              [(*lie, verbs[i % len(verbs)]) for i, lie in enumerate(large)])
good &= check("cut anywhere", [(f"cut to {n}", sound[:n], verbs[n // every % len(verbs)])
                               for n in range(0, len(sound), every)],
              )
good &= check("any byte changed",
              [(f"byte {n} changed", sound[:n] + bytes([sound[n] ^ (1 << n % 8)]) + sound[n + 1:],
                verbs[n // every % len(verbs)]) for n in range(every // 2, len(sound), every)],
              )
sys.exit(not good)
