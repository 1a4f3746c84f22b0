"""The meaning of Ray's errors for a worker; no cluster is needed to raise them."""

from __future__ import annotations

from typing import NoReturn

import pytest
from ray.exceptions import (
    ActorUnavailableError,
    NodeDiedError,
    ObjectLostError,
    OwnerDiedError,
    RayError,
    RaySystemError,
    RayTaskError,
    RpcError,
)

from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.pool import WorkerLost
from shoal.services.browsers.pools.ray_pool import RayPool, _answer


async def failing(error: RayError) -> NoReturn:
    raise error


@pytest.mark.parametrize(
    "error",
    [
        ActorUnavailableError("it does not answer", None),
        NodeDiedError("the node is dead"),
        ObjectLostError("00ff", None, "the reply lay on its node"),
        OwnerDiedError("00ff", None, "the reply lay on its node"),
        RaySystemError("the raylet is gone"),
        RpcError("connection reset"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_an_answer_that_cannot_arrive_means_that_the_worker_is_lost(error: RayError) -> None:
    with pytest.raises(WorkerLost, match="w-1"):
        await _answer(failing(error), "w-1", limit_s=1)


async def test_what_a_worker_s_method_raises_says_nothing_about_the_worker() -> None:
    error = RayTaskError("pull", "Traceback", ValueError("a bug"))
    with pytest.raises(RayTaskError):
        await _answer(failing(error), "w-1", limit_s=1)


async def test_machines_that_could_not_be_asked_for_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    failures, asked = [RaySystemError("the cluster does not answer")], list[int]()

    def request(bundles: list[dict[str, float]]) -> None:
        if failures:
            raise failures.pop()
        asked.append(len(bundles))

    monkeypatch.setattr("ray.autoscaler.sdk.request_resources", request)
    pool = RayPool(WorkerConfig(slots=1, artifacts_url="memory:"))
    with pytest.raises(RaySystemError):
        await pool.expect(3)
    await pool.expect(3)
    await pool.expect(3)
    assert asked == [3]
