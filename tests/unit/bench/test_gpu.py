"""The bench for machines with a GPU, against a server that only counts: what it asks for, and what it makes of it."""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Response

from tests.model_server import ModelServer, serving

BENCH = Path(__file__).resolve().parents[3] / "load-tests" / "bench"


class Counting(ModelServer):
    """Has vLLM's metrics: each reply took a tenth of a second to begin, and three of five prompt tokens were cached."""

    def app(self) -> FastAPI:
        app = super().app()

        @app.get("/metrics")
        def metrics() -> Response:
            n = len(self.requests)
            told = {"num_requests_running": 0, "num_requests_waiting": 0, "kv_cache_usage_perc": 0.5}
            told |= {"time_to_first_token_seconds_sum": n / 10, "time_to_first_token_seconds_count": n}
            told |= {"prefix_cache_queries_total": 5 * n, "prefix_cache_hits_total": 3 * n}
            told |= {"prompt_tokens_total": 3_000 * n, "generation_tokens_total": 60 * n}
            return Response("".join(f"vllm:{name} {value}\n" for name, value in told.items()))

        return app


async def test_each_number_of_sessions_is_measured_by_steps_that_nobody_took_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    gpu: Any = importlib.import_module("gpu")
    async with serving(Counting(lambda body: "{}")) as server:
        options = argparse.Namespace(
            url=server.url, model="tiny", sessions=[1, 3], steps=2, reply_tokens=7, words=60, seed=0
        )
        options.pictures, options.card, options.shape, options.vllm_bench = 0.5, "h200", "30b-a3b", False
        report = gpu.Report("gpu")
        await gpu.measure(options, report)
    figures = report.as_json()["figures"]
    for name in ("1 session", "3 sessions"):
        assert figures[f"{name}: seconds to first token, mean"] == pytest.approx(0.1)
        assert figures[f"{name}: share of prompt tokens from the cache"] == pytest.approx(0.6)
        assert figures[f"{name}: steps per second"] > 0
        assert figures[f"{name}: prompt tokens per step"] == 3_000
        assert report.median(f"{name}: share of the roofline") > 0
    assert len(report.samples["3 sessions: seconds per step"]) == 6
    warm, *measured = (server.requests[at] for at in range(1, len(server.requests)))
    assert len(measured) == 2 + 6, "and two steps before, so that nothing is cold"
    grammars, pictures = set[str](), 0
    for body in (warm, *measured):
        assert body["max_tokens"] == 7
        schema = body["response_format"]["json_schema"]["schema"]
        grammars.add(json.dumps(schema))
        assert body["messages"][0] == warm["messages"][0], "all share their head"
        said = body["messages"][1]["content"]
        pictures += not isinstance(said, str) and any(part["type"] == "image_url" for part in said)
    assert 0 < pictures < 9, "some steps have a picture"
    assert len(grammars) == 9, "each page has controls of its own"
    assert len({json.dumps(body["messages"]) for body in measured}) == len(measured)


def test_the_roofline_is_what_reading_and_writing_take_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    gpu: Any = importlib.import_module("gpu")
    card, dense, experts = gpu.CARDS["h200"], gpu.SHAPES["8b"], gpu.SHAPES["30b-a3b"]
    assert gpu.roofline_s(card, dense, 1e6, 0, 1) == pytest.approx(2 * 8.8e9 * 1e6 / 1.979e15)
    assert gpu.roofline_s(card, dense, 0, 4_800, 8) == pytest.approx(600 * 8.8e9 / 4.8e12)
    one, many = (gpu.roofline_s(card, experts, 0, 100 * n, n) for n in (1, 128))
    assert one < many < 100 * 31e9 / 4.8e12, "many sessions fetch more experts, and all of them at most"
