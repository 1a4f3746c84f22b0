"""The load of a vLLM server, read from its Prometheus metrics."""

from __future__ import annotations

import asyncio

import httpx
from prometheus_client.parser import text_string_to_metric_families

from shoal.services.answers import bounded_client
from shoal.services.inference.admission import ServerLoad
from shoal.services.inference.errors import MetricsAway, MetricsMissing

_RUNNING = "vllm:num_requests_running"
_WAITING = "vllm:num_requests_waiting"
_KV_CACHE = "vllm:kv_cache_usage_perc"
_PREEMPTED = "vllm:num_preemptions_total"
_CACHE_ASKED = "vllm:prefix_cache_queries_total"
_CACHE_HITS = "vllm:prefix_cache_hits_total"
_PROMPT = "vllm:prompt_tokens_total"
_GENERATED = "vllm:generation_tokens_total"
_FIRST_TOKEN_SUM = "vllm:time_to_first_token_seconds_sum"
_FIRST_TOKEN_COUNT = "vllm:time_to_first_token_seconds_count"
_PROCESS = "process_start_time_seconds"

METRICS_BYTES = 2 << 20
"""Longest exposition that is read; vLLM's has some 100 KiB."""

_NEEDED = frozenset({_RUNNING, _WAITING, _KV_CACHE})


def load_from(text: str) -> ServerLoad:
    """The load that an exposition tells.

    Raises:
        MetricsMissing: it is no exposition, or not one of vLLM.
    """
    sums: dict[str, float] = {}
    fullest = 0.0
    try:
        for family in text_string_to_metric_families(text):
            if not family.name.startswith(("vllm:", _PROCESS)):
                continue
            for sample in family.samples:
                sums[sample.name] = sums.get(sample.name, 0.0) + sample.value
                if sample.name == _KV_CACHE:
                    fullest = max(fullest, sample.value)
    except (ValueError, KeyError, IndexError) as error:
        raise MetricsMissing(f"the model server's metrics cannot be read: {error}") from error
    if missing := _NEEDED - sums.keys():
        raise MetricsMissing(f"the model server's metrics lack {', '.join(sorted(missing))}; is it vLLM?")
    return ServerLoad(
        running=sums[_RUNNING],
        waiting=sums[_WAITING],
        kv_cache=fullest,
        preempted=sums.get(_PREEMPTED, 0.0),
        cache_asked=sums.get(_CACHE_ASKED, 0.0),
        cache_hits=sums.get(_CACHE_HITS, 0.0),
        prompt_tokens=sums.get(_PROMPT, 0.0),
        generated_tokens=sums.get(_GENERATED, 0.0),
        first_tokens=sums.get(_FIRST_TOKEN_COUNT, 0.0),
        first_token_s=sums.get(_FIRST_TOKEN_SUM, 0.0),
        process=sums.get(_PROCESS, 0.0),
    )


async def read_load(client: httpx.AsyncClient, url: str) -> ServerLoad:
    """The load of the server at `url` (without its version part).

    Raises:
        MetricsAway: it does not answer, or is not well.
        MetricsMissing: it answers, but has no metrics of vLLM.
    """
    try:
        async with asyncio.timeout(client.timeout.read):  # of the whole: httpx limits each read
            answer = await client.get(f"{url}/metrics")
    except (httpx.HTTPError, TimeoutError) as error:
        raise MetricsAway(f"{url}: {type(error).__name__}: {error}") from error
    if answer.status_code >= 500 and answer.status_code != 501:  # "not implemented" says nothing of how well it is
        raise MetricsAway(f"{url}: {answer.status_code}")
    if answer.status_code != 200:
        raise MetricsMissing(f"{url} has no metrics: {answer.status_code}")
    return load_from(answer.text)


def load_client(timeout_s: float) -> httpx.AsyncClient:
    """A client for `read_load`, which takes in no more than an exposition."""
    return bounded_client(METRICS_BYTES, timeout_s=timeout_s)
