"""From options to the command that starts vLLM. Pure: nothing is started here."""

from __future__ import annotations

import json
from collections.abc import Sequence

from shoal.agent.support.json_value import Json
from shoal.services.inference.options import VllmOptions


def vllm_command(options: VllmOptions, program: Sequence[str] = ("vllm",)) -> tuple[str, ...]:
    """The arguments, program first, under which vLLM serves what `options` say."""
    given: dict[str, str | int | float | Json] = {
        "--served-model-name": options.name,
        "--host": options.host,
        "--port": options.port,
        "--max-model-len": options.context_tokens,
        "--max-num-seqs": options.sequences,
        "--max-num-batched-tokens": options.batch_tokens,
        "--gpu-memory-utilization": options.memory_share,
        "--kv-cache-dtype": options.kv_cache_dtype,
        # Video 0: no buffers are kept for what is never sent.
        "--limit-mm-per-prompt": {"image": options.images, "video": 0},
        "--mm-processor-kwargs": {
            "size": {
                "shortest_edge": options.least_image_tokens * options.image_grid**2,
                "longest_edge": options.image_tokens * options.image_grid**2,
            }
        },
        # Without it a grammar allows any white space between fields, and a model may write that until its limit.
        "--structured-outputs-config": {"backend": options.structured, "disable_any_whitespace": True},
    }
    if options.tensor_parallel > 1:
        given["--tensor-parallel-size"] = options.tensor_parallel
    if options.api_servers > 1:
        given["--api-server-count"] = options.api_servers
    if options.quantization:
        given["--quantization"] = options.quantization
    if options.load_format != "auto":
        given["--load-format"] = options.load_format
    return (
        *program,
        "serve",
        options.model,
        *(word for name, value in given.items() for word in (name, _text(value))),
        "--enable-prefix-caching",  # the default today; our prompts are laid out for it, so it is said
        "--enable-prompt-tokens-details",  # usage then tells how much of the prompt came from the cache
        *options.extra_arguments,
    )


def vllm_environment(options: VllmOptions) -> dict[str, str]:
    """Return what the server's environment has beside what it inherits."""
    variables = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    return {**variables, "VLLM_API_KEY": options.api_key} if options.api_key else variables


def _text(value: Json) -> str:
    return json.dumps(value) if isinstance(value, dict) else str(value)
