"""Release files as docs/formats/release.md specifies them, read and written without dpmf's own
code.

For the browser tests: large releases that no private training has to be run for, and damaged ones.
Needs NumPy and libxxhash, which the build has anyway.
"""

import base64
import ctypes
import ctypes.util
import html
import json
import re
import struct

import numpy as np

KEYS = ["dpmf.kind", "dpmf.format", "dpmf.version", "dpmf.offset", "dpmf.min", "dpmf.max",
        "dpmf.factor_penalty", "dpmf.bias_penalty", "dpmf.statement"]
TENSORS = ["item_id_offsets", "item_factors", "item_biases", "item_id_bytes", "item_counts"]
DTYPES = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8"), "U8": np.dtype("u1")}
PIECE = 1 << 20


def tensors_of(metadata):
    """Those that a release of its format has."""
    return TENSORS if metadata["dpmf.format"] == "2" else TENSORS[:4]


def _xxh3():
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    function = library.XXH3_64bits_withSeed
    function.restype = ctypes.c_uint64
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    return lambda data, seed: function(data, len(data), seed)


def read_release(path):
    """The metadata and the tensors, by any safetensors reader's rules."""
    with open(path, "rb") as file:
        data = file.read()
    (n,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + n])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + n + x for x in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end],
                                      DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return metadata, tensors


def digest(metadata, tensors):
    xxh3, total = _xxh3(), 0
    for key in KEYS:
        total = xxh3(f"{key}={metadata[key]}".encode(), total)
    for name in tensors_of(metadata):
        shape = "x".join(str(x) for x in tensors[name].shape)
        total = xxh3(f"{name}={shape}".encode(), total)
        data = tensors[name].tobytes()
        for at in range(0, len(data), PIECE):
            total = xxh3(data[at:at + PIECE], total)
    return f"{total:016x}"


def release_bytes(metadata, tensors, fresh_digest=True):
    metadata = dict(metadata)
    if fresh_digest:
        metadata["dpmf.digest"] = digest(metadata, tensors)
    header, at = {"__metadata__": {key: metadata[key] for key in KEYS + ["dpmf.digest"]}}, 0
    for name in tensors_of(metadata):
        tensor = tensors[name]
        dtype = next(key for key, value in DTYPES.items() if value == tensor.dtype)
        header[name] = {
            "dtype": dtype, "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]
        }
        at += tensor.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return (struct.pack("<Q", len(text)) + text + b"".join(tensors[name].tobytes()
                                                           for name in tensors_of(metadata)))


def made_up_release(statement, items, factors, seed=1, low=1, high=5, counted=True):
    """A release of random numbers in the shape of real ones; `statement` is JSON text and says
    nothing true of it."""
    random = np.random.default_rng(seed)
    decay = np.linspace(1, 0.15, max(factors, 1))[:factors]
    span = (high - low) / 4
    tensors = {
        "item_factors": (0.3 * span * decay * random.standard_normal(
            (items, factors))).astype("<f4"),
        "item_biases": (0.35 * span * random.standard_normal(items)).astype("<f4"),
    }
    if counted:
        tensors["item_counts"] = np.exp(random.standard_normal(items)).astype("<f4")
    ids = [str(i + 1).encode() for i in range(items)]
    tensors["item_id_bytes"] = np.frombuffer(b"".join(ids), "u1")
    tensors["item_id_offsets"] = np.concatenate([[0],
                                                 np.cumsum([len(x) for x in ids])]).astype("<i8")
    number = lambda x: str(int(x)) if float(x).is_integer() else repr(float(x))
    metadata = {
        "dpmf.kind": "release", "dpmf.format": "2" if counted else "1", "dpmf.version": "0.1.0",
        "dpmf.offset": number(low + 0.6 * (high - low)), "dpmf.min": number(low),
        "dpmf.max": number(high), "dpmf.factor_penalty": "4", "dpmf.bias_penalty": "6",
        "dpmf.statement": statement
    }
    return metadata, tensors


def _block(page, kind, name, text):
    pattern = re.compile(rf'(<script type="{kind}" id="{name}">)[^<]*(</script>)')
    page, n = pattern.subn(lambda match: match[1] + text + match[2], page)
    assert n == 1, f"{name} is there {n} times"
    return page


def _in_blocks(release):
    """Base64 in blocks, as dpmf writes it."""
    between = '</script><script type="application/octet-stream" class="dpmf-release">'
    step = 3 * 16384
    return between.join(base64.b64encode(release[i:i + step]).decode()
                        for i in range(0, len(release), step))


def base64_of(page):
    """The release in a page, as one text of base64."""
    return "".join(re.findall(r'="dpmf-release">([^<]*)<', page))


def _json(value):
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def page_with(page, release=None, titles=None, statement=None, name=None, facts=None):
    """A page that dpmf made, with other data in it. `release` is bytes or base64 text, `titles` a
    list or text, `facts` as the page has them."""
    if facts is not None:
        page = _block(page, "application/json", "dpmf-facts", _json(facts))
    elif release is not None or titles is not None:  # what is known is known of other titles
        page = re.sub(r'<script type="application/json" id="dpmf-facts">[^<]*</script>', "", page)
    if release is not None:
        more = '<script type="application/octet-stream" class="dpmf-release">[^<]*</script>'
        page = re.sub(more, "", page)
        text = release if isinstance(release, str) else _in_blocks(release)
        page = _block(page, "application/octet-stream", "dpmf-release", text)
    if titles is not None:
        page = _block(page, "application/json", "dpmf-items",
                      titles if isinstance(titles, str) else _json(titles))
    if statement is not None:
        page = _block(page, "application/json", "dpmf-statement",
                      statement if isinstance(statement, str) else _json(statement))
    if name is not None:
        page = re.sub(r"<title>[^<]*</title>", lambda _: f"<title>{html.escape(name)}</title>",
                      page)
        page = re.sub(r'<h1 id="name">[^<]*</h1>',
                      lambda _: f'<h1 id="name">{html.escape(name)}</h1>', page)
    return page
