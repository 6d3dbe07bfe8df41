# SPDX-License-Identifier: Apache-2.0
"""GGUF container: encoder, writer (single and split) and reader, versions 2 and 3.

The encoding functions take values as they are, right or wrong, because gguf_bad.py builds broken
files with them. The reader is for our own tools: it expects a sound file and raises ValueError
where it meets something else.
"""
import os
import re
import struct
from dataclasses import dataclass

import numpy as np

import gguf_types

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
PACK = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?",
        U64: "Q", I64: "q", F64: "d"}
MAGIC = b"GGUF"
ALIGNMENT = 32
SHARD_NAME = re.compile(r"^(.*)-(\d{5})-of-(\d{5})\.gguf$")


# ---- encoding ----------------------------------------------------------------------------------

def encode_string(text):
    raw = text if isinstance(text, bytes) else text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def encode_value(kind, value):
    """One value without its kind. An array's value is the pair (element kind, list)."""
    if kind == STRING:
        return encode_string(value)
    if kind == ARRAY:
        element, items = value
        head = struct.pack("<IQ", element, len(items))
        if element in (STRING, ARRAY):
            return head + b"".join(encode_value(element, item) for item in items)
        return head + struct.pack("<%d%s" % (len(items), PACK[element]), *items)
    return struct.pack("<" + PACK[kind], value)


def encode_pair(key, kind, value):
    return encode_string(key) + struct.pack("<I", kind) + encode_value(kind, value)


def encode_tensor_info(name, dims, type_id, offset):
    return (encode_string(name) + struct.pack("<I", len(dims))
            + struct.pack("<%dQ" % len(dims), *dims) + struct.pack("<IQ", type_id, offset))


def encode_header(n_tensors, n_pairs, version=3):
    return MAGIC + struct.pack("<IQQ", version, n_tensors, n_pairs)


# ---- writing -----------------------------------------------------------------------------------

@dataclass
class NewTensor:
    """A tensor to be written. dims are in file order: row length first."""
    name: str
    dims: tuple
    type: str
    data: object                   # bytes, uint8 array, or a function that returns either

    @property
    def nbytes(self):
        return gguf_types.nbytes(self.type, self.dims)


class Metadata(dict):
    """key -> (kind, value), in the order in which the pairs are written."""

    def put(self, key, kind, value):
        self[key] = (kind, value)

    def put_array(self, key, element, items):
        self[key] = (ARRAY, (element, list(items)))


def padded(size, alignment):
    return -(-size // alignment) * alignment


def write(path, metadata, tensors, version=3, alignment=ALIGNMENT):
    """Writes one file; the name appears only when it is complete."""
    pairs = dict(metadata)
    if alignment != ALIGNMENT:
        pairs["general.alignment"] = (U32, alignment)
    info, offset = [], 0
    for t in tensors:
        info.append(encode_tensor_info(t.name, t.dims, gguf_types.TYPES[t.type].id, offset))
        offset += padded(t.nbytes, alignment)
    head = encode_header(len(tensors), len(pairs), version)
    head += b"".join(encode_pair(k, *v) for k, v in pairs.items()) + b"".join(info)
    with open(path + ".part", "wb") as out:
        out.write(head)
        if tensors:
            out.write(b"\0" * (-len(head) % alignment))
        for t in tensors:
            data = t.data() if callable(t.data) else t.data
            raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).view(np.uint8)
            size = len(raw) if isinstance(raw, bytes) else raw.nbytes
            if size != t.nbytes:
                raise ValueError("%s: %d bytes given, %d needed" % (t.name, size, t.nbytes))
            out.write(raw if isinstance(raw, bytes) else raw.tobytes())
            out.write(b"\0" * (-size % alignment))
    os.replace(path + ".part", path)


def shard_path(prefix, index, count):
    return "%s-%05d-of-%05d.gguf" % (prefix, index + 1, count)


def shard_metadata(index, count, n_tensors):
    keys = Metadata()
    keys.put("split.no", U16, index)
    keys.put("split.count", U16, count)
    keys.put("split.tensors.count", I32, n_tensors)
    return keys


def write_split(prefix, metadata, tensors, count, metadata_first=False, **options):
    """Writes `count` shards of about as many tensors each, in order. Returns their paths.

    metadata_first: shard 1 holds the metadata and no tensor.
    """
    carriers = count - 1 if metadata_first else count
    if carriers < 1 or len(tensors) < carriers:
        raise ValueError("%d tensors cannot fill %d shards" % (len(tensors), carriers))
    n = len(tensors)
    groups = [tensors[n * i // carriers:n * (i + 1) // carriers] for i in range(carriers)]
    if metadata_first:
        groups.insert(0, [])
    paths = []
    for i, group in enumerate(groups):
        keys = Metadata(metadata) if i == 0 else Metadata()
        keys.update(shard_metadata(i, count, len(tensors)))
        paths.append(shard_path(prefix, i, count))
        write(paths[-1], keys, group, **options)
    return paths


# ---- reading -----------------------------------------------------------------------------------

@dataclass
class Tensor:
    name: str
    dims: tuple                    # file order: row length first
    type: str
    path: str
    offset: int                    # from the start of the file

    @property
    def nbytes(self):
        return gguf_types.nbytes(self.type, self.dims)


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise ValueError("file ends inside the header, at byte %d" % len(self.data))
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def string(self):
        return bytes(self.take(self.number("Q")))

    def value(self, kind):
        if kind == STRING:
            return self.string().decode("utf-8", "surrogateescape")
        if kind == ARRAY:
            element, count = self.number("I"), self.number("Q")
            if element in (STRING, ARRAY):
                return [self.value(element) for _ in range(count)]
            code = "%d%s" % (count, PACK[element])
            return list(struct.unpack("<" + code, self.take(struct.calcsize("<" + code))))
        return self.number(PACK[kind])


class Reader:
    """meta: key -> Python value; kinds: key -> kind (arrays: (ARRAY, element)); tensors by name."""

    def __init__(self, path):
        self.path, self.meta, self.kinds, self.tensors = path, {}, {}, {}
        self.paths = [path]
        self._maps = {}
        self._read_shard(path, 0)
        count = self.meta.get("split.count", 1)
        if count > 1:
            match = SHARD_NAME.match(path)
            if not match or self.meta["split.no"] != 0:
                raise ValueError("%s: pass the first shard of a split model" % path)
            self.paths = [shard_path(match.group(1), i, count) for i in range(count)]
            for i, other in enumerate(self.paths[1:], start=1):
                self._read_shard(other, i)
            if len(self.tensors) != self.meta["split.tensors.count"]:
                raise ValueError("%s: tensors are missing from its shards" % path)

    def _read_shard(self, path, index):
        data = np.memmap(path, dtype=np.uint8, mode="r")
        self._maps[path] = data
        c = Cursor(memoryview(data))
        if bytes(c.take(4)) != MAGIC or c.number("I") not in (2, 3):
            raise ValueError("%s: no GGUF file of version 2 or 3" % path)
        n_tensors, n_pairs = c.number("Q"), c.number("Q")
        alignment = ALIGNMENT
        for _ in range(n_pairs):
            key, kind = c.value(STRING), c.number("I")
            start = c.at
            value = c.value(kind)
            if key == "general.alignment":
                alignment = value
            if index == 0:
                self.meta[key] = value
                self.kinds[key] = kind
                if kind == ARRAY:
                    self.kinds[key] = (ARRAY, struct.unpack("<I", data[start:start + 4])[0])
        found = []
        for _ in range(n_tensors):
            name, n_dims = c.value(STRING), c.number("I")
            dims = tuple(c.number("Q") for _ in range(n_dims))
            kind, offset = gguf_types.BY_ID[c.number("I")].name, c.number("Q")
            found.append(Tensor(name, dims, kind, path, offset))
        start = padded(c.at, alignment)
        for t in found:
            t.offset += start
            if t.name in self.tensors or t.offset + t.nbytes > len(data):
                raise ValueError("%s: tensor %s is repeated or cut off" % (path, t.name))
            self.tensors[t.name] = t

    def metadata(self):
        """The pairs as write() takes them, without those of splitting."""
        out = Metadata()
        for key, value in self.meta.items():
            kind = self.kinds[key]
            if key.startswith("split."):
                continue
            out[key] = (ARRAY, (kind[1], value)) if isinstance(kind, tuple) else (kind, value)
        return out

    def raw(self, name):
        """The bytes of a tensor as a uint8 array that maps the file."""
        t = self.tensors[name]
        return self._maps[t.path][t.offset:t.offset + t.nbytes]

    def array(self, name):
        """Dequantised float32 array; the shape is that of `dims` reversed (rows first)."""
        t = self.tensors[name]
        return gguf_types.dequantise(t.type, self.raw(name)).reshape(t.dims[::-1])
