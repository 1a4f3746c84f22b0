"""Sequences by the card and the model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.services.inference.configs import vllm_options
from shoal.services.inference.options import VllmOptions
from shoal.services.inference.sizing import Card, ModelShape, cards, sequences_for, shape_of
from shoal.services.settings import load_settings

SMALL, LARGE = "Qwen/Qwen3-VL-8B-Instruct-FP8", "Qwen/Qwen3-VL-30B-A3B-Instruct-FP8"


def card(gibibytes: int) -> Card:
    return Card("NVIDIA", gibibytes << 30)


@pytest.mark.parametrize(
    ("model", "gibibytes", "cache", "sequences"),
    [
        (SMALL, 24, "auto", (12, 17)),
        (SMALL, 24, "fp8", (24, 34)),
        (LARGE, 80, "auto", (50, 64)),
        (LARGE, 141, "auto", (64, 64)),
        (LARGE, 24, "auto", (4, 4)),  # the weights find no room, and vLLM says so itself
    ],
)
def test_a_card_takes_the_sessions_that_fit_beside_the_weights(
    model: str, gibibytes: int, cache: str, sequences: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    shape = shape_of(model)
    assert shape is not None
    least, most = sequences
    assert least <= sequences_for(card(gibibytes), shape, VllmOptions(model, kv_cache_dtype=cache)) <= most


def test_two_cards_share_the_weights() -> None:
    shape = ModelShape(30 << 30, 48, 4, 128)
    alone, shared = VllmOptions("m"), VllmOptions("m", tensor_parallel=2)
    assert sequences_for(card(40), shape, alone) < 10 < sequences_for(card(40), shape, shared)


def test_the_shape_is_read_from_a_folder_or_the_hubs_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    folder = tmp_path / "hub" / "models--org--name" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    text = {"num_attention_heads": 32, "hidden_size": 4096, "num_hidden_layers": 36, "num_key_value_heads": 8}
    (folder / "config.json").write_text(json.dumps({"text_config": text}))
    assert shape_of("org/name") is None  # no weights yet
    (folder / "model.safetensors").write_bytes(b"12345")
    assert shape_of("org/name") == shape_of(str(folder)) == ModelShape(5, 36, 8, 128)


def test_what_a_person_sets_is_taken_and_what_is_unknown_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    settings = load_settings(vllm_model=SMALL)
    both = (card(80), card(24))
    assert vllm_options(settings, both) == replace(vllm_options(settings), sequences=12)
    assert vllm_options(load_settings(vllm_model=SMALL, vllm_sequences=7), both).sequences == 7
    assert vllm_options(load_settings(vllm_model="org/other"), both).sequences == vllm_options(settings).sequences == 64


def test_cards_are_what_the_driver_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'NVIDIA H200, 143771'\necho 'NVIDIA L4, 23034'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cards() == (Card("NVIDIA H200", 143_771 << 20), Card("NVIDIA L4", 23_034 << 20))
    program.unlink()
    assert cards() == ()
