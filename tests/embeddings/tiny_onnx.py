"""Models of a few bytes in the ONNX format, written by hand, to try what a folder may hold."""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers

FLOAT, INT64 = 1, 7
WORDS = ["[UNK]", "small", "tiny", "large", "huge", "query:", "passage:"]
TABLE = np.array(
    [
        [0.1, 0.2, -0.1, 0.3],
        [0.011, -0.023, 0.037, 0.019],
        [0.013, 0.029, -0.017, 0.041],
        [91.0, -47.0, 63.0, 12.0],
        [-88.0, 73.0, 15.0, -99.0],
        [0.5, 0.0, 0.0, 0.1],
        [0.0, 0.5, 0.1, 0.0],
    ],
    dtype=np.float32,
)
Node = tuple[str, Sequence[str], Sequence[str], dict[str, list[int]]]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _field(tag: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(tag << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(tag << 3 | 2) + _varint(len(data)) + data


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(_field(1, _field(1, dim) if isinstance(dim, int) else _field(2, dim)) for dim in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, dims)))


def _tensor(name: str, table: NDArray[np.float32]) -> bytes:
    raw = struct.pack(f"<{table.size}f", *table.ravel())
    dims = b"".join(_field(1, size) for size in table.shape)
    return dims + _field(2, FLOAT) + _field(8, name) + _field(9, raw)


def _node(node: Node) -> bytes:
    kind, inputs, outputs, attributes = node
    out = b"".join(_field(1, name) for name in inputs) + b"".join(_field(2, n) for n in outputs)
    out += _field(4, kind)
    for name, values in attributes.items():
        many = name == "axes"
        body = b"".join(_field(8 if many else 3, value) for value in values)
        out += _field(5, _field(1, name) + body + _field(20, 7 if many else 2))
    return out


def model(inputs: Sequence[str], nodes: Sequence[Node], outputs: dict[str, int]) -> bytes:
    """`outputs` gives each one's number of axes; the last is always 4 long."""
    graph = b"".join(_field(1, _node(node)) for node in nodes) + _field(2, "tiny")
    graph += _field(5, _tensor("table", TABLE))
    graph += b"".join(_field(11, _value(name, INT64, ["batch", "tokens"])) for name in inputs)
    for name, axes in outputs.items():
        graph += _field(12, _value(name, FLOAT, ["batch", *["tokens"] * (axes - 2), 4]))
    opset = _field(1, "") + _field(2, 13)
    return _field(1, 8) + _field(7, graph) + _field(8, opset)


LOOK_UP: Node = ("Gather", ["table", "input_ids"], ["tokens"], {})
POOL: Node = ("ReduceMean", ["tokens"], ["sentence_embedding"], {"axes": [1], "keepdims": [0]})


def pooled() -> bytes:
    """Asks for the ids alone, and answers with tokens first and a pooled sentence second."""
    return model(["input_ids"], [LOOK_UP, POOL], {"tokens": 3, "sentence_embedding": 2})


def tokens_only() -> bytes:
    return model(["input_ids"], [LOOK_UP], {"tokens": 3})


def quantised_as_it_runs() -> bytes:
    """The step between two values depends on the largest in the whole group."""
    down: Node = ("DynamicQuantizeLinear", ["tokens"], ["q", "scale", "zero"], {})
    up: Node = ("DequantizeLinear", ["q", "scale", "zero"], ["rough"], {})
    return model(["input_ids"], [LOOK_UP, down, up], {"rough": 3})


def asking_for(further: str) -> bytes:
    return model(["input_ids", further], [LOOK_UP], {"tokens": 3})


def folder(path: Path, data: bytes, name: str = "model.onnx") -> Path:
    (path / name).parent.mkdir(parents=True, exist_ok=True)
    (path / name).write_bytes(data)
    words = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocab=words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(path / "tokenizer.json"))
    return path
