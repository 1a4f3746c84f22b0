"""Reading vLLM's metrics, and the gate that the dispatcher asks."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from shoal.services.inference.admission import AdmissionConfig, AdmissionRules
from shoal.services.inference.errors import MetricsMissing
from shoal.services.inference.load import load_from
from shoal.services.inference.watch import Admission, root_of

A, B = "http://a.example:8000/v1", "http://b.example:8000/v1"
RULES = AdmissionRules(start=8)

Answer = Callable[[httpx.Request], httpx.Response]


def exposition(running: float = 3, waiting: float = 0, kv: float = 0.25) -> str:
    return f"""\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{engine="0",model_name="tiny"}} {running}
vllm:num_requests_running{{engine="1",model_name="tiny"}} 1.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{{engine="0",model_name="tiny"}} {waiting}
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{{engine="0",model_name="tiny"}} {kv}
vllm:kv_cache_usage_perc{{engine="1",model_name="tiny"}} 0.125
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{{engine="0",model_name="tiny"}} 200.0
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{{engine="0",model_name="tiny"}} 150.0
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{{engine="0",le="1.0",model_name="tiny"}} 4.0
vllm:time_to_first_token_seconds_bucket{{engine="0",le="+Inf",model_name="tiny"}} 5.0
vllm:time_to_first_token_seconds_count{{engine="0",model_name="tiny"}} 5.0
vllm:time_to_first_token_seconds_sum{{engine="0",model_name="tiny"}} 7.5
# TYPE python_gc_objects_collected_total counter
python_gc_objects_collected_total{{generation="0"}} 6414.0
"""


def test_engines_are_added_up_and_the_fullest_cache_counts() -> None:
    load = load_from(exposition(running=3, waiting=2, kv=0.25))
    assert (load.running, load.waiting, load.kv_cache) == (4, 2, 0.25)
    assert (load.cache_asked, load.cache_hits) == (200, 150)
    assert (load.first_tokens, load.first_token_s, load.preempted) == (5, 7.5, 0)


@pytest.mark.parametrize("text", ["", "<html>hello</html>", "# TYPE up gauge\nup 1\n", 'vllm:num_requests_running{x="'])
def test_what_is_not_vllms_is_said_to_be_missing(text: str) -> None:
    with pytest.raises(MetricsMissing):
        load_from(text)


@pytest.mark.parametrize(
    ("url", "root"),
    [
        ("http://a:8000/v1", "http://a:8000"),
        ("http://a:8000/v1/", "http://a:8000"),
        ("https://a/models/x/v1", "https://a/models/x"),
        ("http://a:8000", "http://a:8000"),
    ],
)
def test_metrics_are_beside_the_api(url: str, root: str) -> None:
    assert root_of(url) == root


class Servers:
    """The answers of each server, by host; None: nothing at all."""

    def __init__(self, **answers: str | int | None) -> None:
        self.answers = answers
        self.now = 0.0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/metrics"
        answer = self.answers[request.url.host.split(".")[0]]
        if answer is None:
            raise httpx.ConnectError("refused", request=request)
        return httpx.Response(answer) if isinstance(answer, int) else httpx.Response(200, text=answer)

    async def look(self, admission: Admission, times: int = 1) -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(self)) as client:
            for _ in range(times):
                self.now += 2.0
                await admission.look(client)

    def admission(self, *urls: str) -> Admission:
        return Admission(AdmissionConfig(urls, RULES), clock=lambda: self.now)


async def test_the_room_is_what_is_left_of_all_limits() -> None:
    servers = Servers(a=exposition(), b=exposition())
    admission = servers.admission(A, B)
    assert admission.room(0) == 16
    assert admission.room(10) == 6
    assert admission.room(99) == 0


async def test_a_queue_takes_room_and_calm_gives_it() -> None:
    servers = Servers(a=exposition(running=4, waiting=20))
    admission = servers.admission(A)
    admission.room(8)
    await servers.look(admission)
    assert admission.room(6) == 0
    servers.answers["a"] = exposition()
    grew: list[int | None] = []
    admission.changed = lambda: grew.append(admission.limit)
    await servers.look(admission, times=30)
    assert admission.limit is not None
    assert admission.limit > 6
    assert grew


async def test_one_lost_look_changes_nothing_and_a_second_closes_the_gate() -> None:
    servers = Servers(a=exposition())
    admission = servers.admission(A)
    await servers.look(admission)
    servers.answers["a"] = None
    await servers.look(admission)
    assert admission.room(0) == 8
    await servers.look(admission)
    assert admission.room(0) == 0
    assert admission.away
    servers.answers["a"] = exposition()
    await servers.look(admission)
    assert admission.room(0) == 4


async def test_of_two_servers_the_one_that_is_left_counts() -> None:
    servers = Servers(a=exposition(), b=503)
    admission = servers.admission(A, B)
    await servers.look(admission, times=2)
    assert admission.limit == 8
    assert not admission.away


@pytest.mark.parametrize("answer", [404, 401, 501, "<html>a hosted model</html>"])
async def test_a_server_without_vllms_metrics_is_asked_freely(answer: int | str) -> None:
    servers = Servers(a=answer)
    admission = servers.admission(A)
    await servers.look(admission)
    assert admission.room(1_000) is None
    assert admission.snapshot()["limit"] is None


async def test_the_snapshot_tells_what_the_gate_knows() -> None:
    servers = Servers(a=exposition(waiting=1))
    admission = servers.admission(A)
    admission.room(5)
    await servers.look(admission)
    told = admission.snapshot()
    assert (told["limit"], told["active"]) == (8, 5)
    server = told["servers"][0]
    assert (server["up"], server["running"], server["waiting"], server["cache_hits"]) == (True, 4, 1, 0.75)
