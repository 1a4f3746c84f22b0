"""The number of requests that a model server works at beside each other: from the card and the model."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.services.inference.options import VllmOptions

_SHARED_TOKENS = 6_400
"""Of a step's prompt: what all sessions have in common, kept once (docs/archive/models.md)."""
_SESSION_TOKENS = 5_000
"""Of a step's prompt and reply: what a session has alone."""
_WORKSPACE_BYTES = 2 << 30
"""Activations, CUDA graphs and the picture encoder's buffers."""
MOST_SEQUENCES = 64
"""An H200 answers 4.7 steps a second with 32 sessions and 5.3 with 128, in 6.6 and 21 s each."""
_LEAST_SEQUENCES = 4


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The figures of a model that decide on the memory that it takes."""

    weight_bytes: int
    layers: int
    kv_heads: int
    head_size: int

    def kv_bytes(self, value_bytes: int) -> int:
        """Bytes of a token's keys and values."""
        return 2 * self.layers * self.kv_heads * self.head_size * value_bytes


_KNOWN = {
    "Qwen/Qwen3-VL-8B-Instruct-FP8": ModelShape(10_600_000_000, 36, 8, 128),
    "Qwen/Qwen3-VL-30B-A3B-Instruct-FP8": ModelShape(32_300_000_000, 48, 4, 128),
}
"""The models that docs/models/models.md names, so that they are known before they are downloaded."""


@dataclass(frozen=True, slots=True)
class Card:
    """One GPU."""

    name: str
    memory_bytes: int


def cards() -> tuple[Card, ...]:
    """GPUs of this machine, as NVIDIA's driver tells them; none where there is no driver."""
    asked = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        listing = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = (line.rpartition(",") for line in listing.splitlines() if line.strip())
    return tuple(Card(name.strip(), int(mebibytes) << 20) for name, _, mebibytes in rows if mebibytes.strip().isdigit())


def shape_of(model: str) -> ModelShape | None:
    """The shape of a model that lies in a folder, of one in the hub's cache, or of one that we recommend."""
    for folder in _folders(model):
        configuration = folder / "config.json"
        weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        if weights and configuration.is_file():
            return _shape(json.loads(configuration.read_text()), weights)
    return _KNOWN.get(model)


def sequences_for(card: Card, shape: ModelShape, options: VllmOptions) -> int:
    """Sessions whose prompts find room on each card beside the weights; `options.tensor_parallel` cards share both."""
    value_bytes = 1 if options.kv_cache_dtype.startswith("fp8") else 2
    room = options.tensor_parallel * (card.memory_bytes * options.memory_share - _WORKSPACE_BYTES) - shape.weight_bytes
    tokens = room / shape.kv_bytes(value_bytes)
    return min(MOST_SEQUENCES, max(_LEAST_SEQUENCES, int((tokens - _SHARED_TOKENS) / _SESSION_TOKENS)))


def _folders(model: str) -> list[Path]:
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    return [Path(model), *sorted(hub.glob(f"models--{model.replace('/', '--')}/snapshots/*"))]


def _shape(configuration: Mapping[str, Any], weight_bytes: int) -> ModelShape | None:
    text = configuration.get("text_config", configuration)
    heads, hidden, layers = (text.get(name) for name in ("num_attention_heads", "hidden_size", "num_hidden_layers"))
    if not (heads and hidden and layers):
        return None
    kv_heads = text.get("num_key_value_heads") or heads
    return ModelShape(weight_bytes, layers, kv_heads, text.get("head_dim") or hidden // heads)
