"""A Chromium that never came to be, without one: what its launch had begun is ended again."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from shoal.agent.chromium.process.launch import LaunchOptions, launch


async def test_a_launch_that_is_canceled_leaves_no_folder_no_process_and_no_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[asyncio.subprocess.Process] = []
    released: list[bool] = []
    started = asyncio.Event()

    async def begin(*, args: list[str], **_: object) -> None:
        command = ("-c", "import time; time.sleep(600)", *args)
        begun.append(await asyncio.create_subprocess_exec(sys.executable, *command, start_new_session=True))
        started.set()
        await asyncio.Event().wait()

    async def release() -> None:
        released.append(True)

    async def driver() -> SimpleNamespace:
        return SimpleNamespace(release=release, playwright=SimpleNamespace(chromium=SimpleNamespace(launch=begin)))

    monkeypatch.setattr(
        import_module("shoal.agent.chromium.process.launch"), "acquire_driver", driver
    )  # the package names the function so
    options = LaunchOptions(executable=sys.executable, sandbox="no", temp_dir=str(tmp_path))
    launching = asyncio.create_task(launch(options))
    await asyncio.wait_for(started.wait(), 60)
    launching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await launching
    try:
        assert released == [True]
        assert list(tmp_path.iterdir()) == []
        await asyncio.wait_for(begun[0].wait(), 60)
    finally:
        if begun[0].returncode is None:
            begun[0].kill()
