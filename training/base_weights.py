"""Read the float weights of the base encoder from the int8 ONNX file of the `embeddings` extra."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from transformers import BertConfig, BertModel

_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


def base_encoder(path: Path, layers: tuple[int, ...]) -> BertModel:
    """Build a BERT of the given layers of the base model; its matrices are dequantized."""
    config = BertConfig(
        vocab_size=30522,
        hidden_size=384,
        num_hidden_layers=len(layers),
        num_attention_heads=12,
        intermediate_size=1536,
        layer_norm_eps=1e-12,
    )
    model = BertModel(config, add_pooling_layer=False)
    state = {}
    for name, value in _float_state(path).items():
        layer = re.match(r"encoder\.layer\.(\d+)\.", name)
        if layer is None:
            state[name] = value
        elif int(layer[1]) in layers:
            state[name.replace(layer[0], f"encoder.layer.{layers.index(int(layer[1]))}.", 1)] = value
    missing, unexpected = model.load_state_dict(state, strict=False)
    lost = [name for name in missing if "position_ids" not in name and "token_type" not in name]
    if lost or unexpected:
        raise SystemExit(f"the base model has another form: missing {lost}, unexpected {unexpected}")
    return model


def _float_state(path: Path) -> dict[str, torch.Tensor]:
    arrays = {one.name: numpy_helper.to_array(one) for one in onnx.load(str(path)).graph.initializer}
    state = {}
    for name, value in arrays.items():
        if name.startswith("inner.") and not name.endswith(("_q", "_scale", "position_ids")):
            state[name.removeprefix("inner.")] = torch.tensor(value.copy())
    for part in ("word", "position"):
        name = f"inner.embeddings.{part}_embeddings.weight"
        state[name.removeprefix("inner.")] = _dequantize(arrays, name)
    # The exporter numbered the matrices of the layers in the order in which they are applied.
    numbered = sorted((name for name in arrays if re.fullmatch(r"val_\d+_q", name)), key=lambda n: int(n.split("_")[1]))
    for place, name in enumerate(numbered):
        target = f"encoder.layer.{place // len(_PARTS)}.{_PARTS[place % len(_PARTS)]}.weight"
        state[target] = _dequantize(arrays, name.removesuffix("_q")).T.contiguous()
    return state


def _dequantize(arrays: dict[str, np.ndarray], name: str) -> torch.Tensor:
    return torch.tensor(arrays[f"{name}_q"].astype(np.float32) * arrays[f"{name}_scale"])
