"""Real vLLM on the CPU with the tiny model, on a free port of loopback: what these tests and the prompt bench run."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.agent.models.settings import ModelSettings
from shoal.services.inference.options import VllmOptions
from shoal.services.inference.process import VllmProcess, running_vllm

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv-vllm"
PROGRAM = (str(VENV / "bin" / "vllm"),)
LOG = VENV / "server.log"
READY_S = 600.0
"""A start takes a minute on two quiet cores, and many where other work goes on."""

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # the cores are shared with others
    "OMP_NUM_THREADS": "2",
}

_CPU_ARGUMENTS = ("--enforce-eager", "--dtype", "bfloat16", "--block-size", "32")
"""Nothing is compiled for half a million parameters; the CPU's blocks of the KV cache are multiples of 32 tokens."""

TINY = VllmOptions(
    model=str(VENV / "tiny-model"),
    served_name="tiny",
    context_tokens=24_576,
    sequences=8,
    batch_tokens=4_096,
    memory_share=0.2,
    image_tokens=1_000,  # less than the model's own configuration says
    extra_arguments=_CPU_ARGUMENTS,
)


def is_set_up() -> bool:
    """Return whether scripts/setup-vllm has been run."""
    return (VENV / ".set-up").exists() and (VENV / "tiny-model" / ".made-by").exists()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@asynccontextmanager
async def tiny_vllm(**more: Any) -> AsyncIterator[VllmProcess]:
    """A healthy server; `more` are fields of its options."""
    options = replace(TINY, port=more.pop("port", None) or free_port(), **more)
    async with running_vllm(
        options, program=PROGRAM, environment=ENVIRONMENT, output_file=LOG, ready_s=READY_S
    ) as server:
        yield server


async def start_tiny(port: int) -> VllmProcess:
    """A server that is starting; its caller ends it."""
    output = LOG.open("ab")
    try:
        return await VllmProcess.start(
            replace(TINY, port=port), program=PROGRAM, environment=ENVIRONMENT, output=output
        )
    finally:
        output.close()


def settings_for(server: VllmProcess, **more: Any) -> ModelSettings:
    """Return how a client reaches `server`; replies are drawn, since a random model's likeliest one never ends."""
    settings = ModelSettings(
        base_urls=(f"{server.options.url}/v1",),
        model="tiny",
        timeout_s=120,
        temperature=1.0,
        structured="json_schema",
        image_tokens=server.options.image_tokens,
    )
    return replace(settings, **more)
