"""The end of a command that is asked to end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest
import typer

from shoal.services.cli.ending import Exit
from shoal.services.cli.running import finish
from tests.patience import PATIENCE_S
from tests.unit.cli.conftest import Served


async def interrupted(number: signal.Signals) -> Exit:
    """A command that is asked to end while it works, and cleans up."""
    os.kill(os.getpid(), number)
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        return Exit.FAILED
    return Exit.DONE


async def interrupted_without_cleanup(number: signal.Signals) -> Exit:
    """The same, by one that does not look after its end."""
    os.kill(os.getpid(), number)
    await asyncio.sleep(60)
    return Exit.DONE


@pytest.mark.parametrize(
    ("work", "number", "serves", "code", "told"),
    [
        (interrupted, signal.SIGINT, False, 130, "interrupted\n"),
        (interrupted_without_cleanup, signal.SIGINT, False, 130, "interrupted\n"),
        (interrupted_without_cleanup, signal.SIGINT, True, 0, ""),
        (interrupted, signal.SIGTERM, False, 1, ""),
        (interrupted_without_cleanup, signal.SIGTERM, False, 1, ""),
    ],
)
def test_ctrl_c_says_so_and_has_an_exit_code_of_its_own(
    work: Callable[[signal.Signals], Coroutine[None, None, Exit]],
    number: signal.Signals,
    serves: bool,
    code: int,
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(typer.Exit) as ended:
            finish(work(number), serves=serves)
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert (ended.value.exit_code, capsys.readouterr().err) == (code, told)


def test_ctrl_c_of_a_run_cancels_its_job(served: Served) -> None:
    command = [Path(sys.executable).with_name("shoal"), "run", "look", "--url", "https://shop.example/", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "job.submitted" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, told.splitlines()[-1]) == (130, "interrupted")
    assert served.do(served.world.client.get("/v1/jobs/j1")).json()["status"] == "canceled"
