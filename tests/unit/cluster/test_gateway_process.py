"""The gateway of `shoal up` as a process: it comes back when it dies, for clients that go on, and says so."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from shoal.services.cluster.address import running_cluster
from shoal.services.cluster.embedded import _announced, _only_one
from shoal.services.cluster.forking.server import fork_server
from shoal.services.cluster.gateway_keeper import GatewayKeeper, supervised_gateway, why_ended
from shoal.services.cluster.serving import listening
from shoal.services.errors import BadSetting, ClusterFailed
from shoal.services.settings import load_settings
from shoal.services.store.restarts import Restarts
from shoal.services.store.store import open_store

pytestmark = pytest.mark.timeout(300)

OWNER = """
import asyncio, sys
from pathlib import Path
from tests.unit.cluster.test_gateway_process import gateway_here

async def main():
    async with gateway_here(Path(sys.argv[1])) as here:
        print(here.process().pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""
NO_KEEPING = httpx.Limits(max_keepalive_connections=0)


@dataclass
class Kept:
    keeper: GatewayKeeper
    client: httpx.AsyncClient

    def process(self) -> psutil.Process | None:
        """The gateway's process; None while there is none."""
        every = psutil.Process().children(recursive=True)
        children = [one for one in every if one.status() != psutil.STATUS_ZOMBIE]
        here = [one for one in children if "gateway_process" in " ".join(one.cmdline())]
        # A client of the fork server stands for its fork.
        forks = [one for one in children if one.ppid() != os.getpid()]
        return (forks or here or [None])[0]

    async def gateway(self) -> dict[str, object]:
        """Return what the status says of the gateway."""
        told: dict[str, object] = (await self.client.get("/v1/status")).json()["gateway"]
        return told


@asynccontextmanager
async def gateway_here(folder: Path, *, forked: bool = False, **settings: object) -> AsyncIterator[Kept]:
    places = {"data_dir": folder, "store_url": f"sqlite:///{folder}/shoal.db", "artifacts_url": str(folder / "a")}
    chosen = load_settings(**places, cookie_secret="0" * 32).model_copy(update=settings)
    await (await open_store(chosen.store_url)).close()
    with listening("127.0.0.1", 0) as listener, fork_server(folder) if forked else nullcontext() as forks:
        async with (
            supervised_gateway(listener, chosen, folder, forks) as keeper,
            # A connection that was open when it died is lost, as everywhere; here each request makes its own.
            httpx.AsyncClient(base_url=await keeper.url(), timeout=120, limits=NO_KEEPING) as client,
        ):
            yield Kept(keeper, client)


@pytest.mark.parametrize("forked", [False, True])
async def test_a_gateway_that_dies_comes_back_for_callers_that_wait(
    tmp_path: Path, forked: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    number = signal.SIGSEGV
    async with gateway_here(tmp_path, forked=forked) as here:
        assert await here.gateway() == {"restarts": 0, "why": "", "at": None, "soon": 0}
        job = await here.client.post("/v1/jobs", json={"url": "https://shop.example/", "goal": "look"})
        assert job.status_code == 201, job.text
        first = here.process()
        assert first is not None
        first.send_signal(number)
        while first.is_running() and first.status() != psutil.STATUS_ZOMBIE:
            await asyncio.sleep(0.01)
        # Sent while no gateway is there: it waits for the next one.
        again = await here.client.get(f"/v1/jobs/{job.json()['id']}")
        assert (again.status_code, again.json()["status"]) == (200, "queued")
        told = await here.gateway()
        assert (told["restarts"], told["why"]) == (1, f"signal {int(number)} ({number.name})")
        assert str(told["at"]).endswith("Z")
        page = await here.client.get("/status")
        assert "started again 1 time since" in page.text and f"ended last by signal {int(number)}" in page.text
        last = here.process()
        assert last is not None and last.pid != first.pid
    assert not last.is_running(), "nothing of it stays"
    assert "gateway.ended" in "".join(capsys.readouterr()), "the log says so"


async def test_a_gateway_whose_fork_server_dies_goes_on_and_comes_back_without_it(tmp_path: Path) -> None:
    async with gateway_here(tmp_path, forked=True) as here:
        assert (await here.client.get("/healthz")).status_code == 200
        fork = here.process()
        assert fork is not None
        server = fork.parent()
        assert server is not None and server != psutil.Process()
        server.kill()
        await asyncio.to_thread(psutil.wait_procs, [server], 0.5)
        assert (await here.gateway())["restarts"] == 0 and fork.is_running()
        fork.kill()
        while (await here.gateway())["restarts"] == 0:
            await asyncio.sleep(0.05)
        last = here.process()
        assert last is not None and last.parent() == psutil.Process()


async def test_readyz_says_yes_from_the_moment_at_which_commands_find_the_cluster(tmp_path: Path) -> None:
    async with gateway_here(tmp_path) as here:
        with _only_one(tmp_path):
            early = await here.client.get("/readyz")
            assert (early.status_code, early.json()["checks"]["cluster"]) == (503, "its workers are still starting")
            assert running_cluster(tmp_path) is None
            with _announced(tmp_path, await here.keeper.url()):
                assert (await here.client.get("/readyz")).status_code == 200
                assert running_cluster(tmp_path) == await here.keeper.url()
            assert (await here.client.get("/readyz")).status_code == 503, "it is ending"


async def test_a_gateway_that_cannot_start_says_why(tmp_path: Path) -> None:
    with listening("127.0.0.1", 0) as taken, pytest.raises(ClusterFailed, match=r"not start: .*SHOAL_METRICS_PORT"):
        taken.listen()
        async with gateway_here(tmp_path, metrics_port=taken.getsockname()[1]):
            pytest.fail("it started")


async def test_settings_that_a_gateway_cannot_take_are_told_as_such_while_other_parts_start(tmp_path: Path) -> None:
    bad = load_settings(
        data_dir=tmp_path, cookie_secret="0" * 32, auth="off", login_header="X-User", login_proxies=["127.0.0.1"]
    )
    with listening("127.0.0.1", 0) as listener:
        async with supervised_gateway(listener, bad, tmp_path) as keeper:
            keeper.check()
            with pytest.raises(BadSetting, match=r"^SHOAL_LOGIN_HEADER needs SHOAL_AUTH=on"):
                await keeper.url()
            with pytest.raises(BadSetting):
                keeper.check()


async def test_a_gateway_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """However that ends: its standard input does, too."""
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout is not None
    gateway = psutil.Process(json.loads(await owner.stdout.readline()))
    owner.kill()
    await owner.wait()
    await asyncio.to_thread(psutil.wait_procs, [gateway], 60)
    assert not gateway.is_running()


def test_pauses_grow_up_to_half_a_minute_and_ends_are_told_in_words() -> None:
    assert [Restarts(soon=n).pause_s for n in (0, 1, 2, 30)] == [0.1, 0.2, 0.4, 30.0]
    assert [why_ended(code) for code in (1, -9, -11, -99)] == [
        *("exit code 1", "signal 9 (SIGKILL)"),
        *("signal 11 (SIGSEGV)", "signal 99"),
    ]
