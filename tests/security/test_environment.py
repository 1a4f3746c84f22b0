"""A page that takes over its browser finds no key of the worker in the environment of any process of the browser.

Nor does a part that has Ray's token hear the database's URL or a key from the dispatcher.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from shoal.agent.models.settings import ModelSettings
from shoal.services.browsers.config import WorkerConfig
from shoal.services.dispatch.actor import DispatcherActor, DispatcherParts
from shoal.services.dispatch.config import DispatchConfig

ROOT = Path(__file__).resolve().parents[2]

CANARY = "canary-7f3a91"
SECRETS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "RAY_AUTH_TOKEN",
    "RAY_AUTH_TOKEN_PATH",
    "SHOAL_STORE_URL",
    "SHOAL_MODEL_API_KEY",
    "SHOAL_HELP_TOKEN",
    "SHOAL_COOKIE_SECRET",
    "HTTPS_PROXY",
    "NODE_OPTIONS_OF_SOMEBODY",
    "ANYTHING_ELSE",
)

WORKER = """
import asyncio, json, sys
from pathlib import Path
import psutil
from shoal.agent.browser import ContextOptions
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.session_parts.real_parts import RealParts

async def main():
    parts = RealParts("w", WorkerConfig(slots=1, artifacts_url="memory:", temp_dir=sys.argv[1]))
    await parts.open()
    try:
        async with parts.owner.lend() as browser:
            context = await browser.new_context(ContextOptions())
            found = {}
            for process in psutil.Process().children(recursive=True):
                environment = Path(f"/proc/{process.pid}/environ").read_bytes().decode(errors="replace")
                found[process.pid] = (" ".join(process.cmdline()), environment)
            print(json.dumps(found))
            await context.close()
    finally:
        await parts.close()

asyncio.run(main())
"""


def test_no_process_of_a_browser_has_the_keys_of_its_worker(tmp_path: Path) -> None:
    told = {name: CANARY for name in SECRETS}
    kept = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(
        [sys.executable, "-c", WORKER, str(tmp_path)],
        env={**told, **kept},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    processes = list(json.loads(ran.stdout.splitlines()[-1]).values())
    # The driver, and the browser with its zygotes, its renderer and its other helpers.
    assert any("run-driver" in command for command, _ in processes), processes
    assert any("--type=renderer" in command for command, _ in processes), processes
    assert any("--shoal-browser=" in command and "--type=" not in command for command, _ in processes), processes
    assert [command for command, environment in processes if CANARY in environment] == []
    for command, environment in processes:
        names = {line.partition("=")[0] for line in environment.split("\0") if "=" in line}
        assert not names & {*SECRETS, "PYTHONPATH"}, (command, names)
        if "run-driver" in command or "--type=" not in command:
            assert {"PATH", "HOME", "TMPDIR", "LC_ALL"} <= names, (command, names)


async def test_a_dispatcher_tells_nobody_what_it_was_made_of() -> None:
    """The whole of what its methods answer holds neither the URL nor a key."""
    worker = WorkerConfig(
        slots=1,
        artifacts_url="memory:",
        help_token=CANARY,
        model=ModelSettings(("http://127.0.0.1:1/v1",), "m", api_key=CANARY),
    )
    parts = DispatcherParts(f"postgresql://u:{CANARY}@db/shoal", DispatchConfig(), worker)
    assert CANARY not in repr(parts)
    actor = object.__new__(DispatcherActor)  # without its start, which needs a cluster
    actor._parts, actor._store, actor._dispatcher, actor._artifacts = parts, None, None, None
    assert not hasattr(actor, "parts")
    answers = [await actor.alive(), await actor.made_of(parts), await actor.workers(), await actor.stop()]
    assert answers == [None, True, [], None]
    other = DispatcherParts("postgresql://u:guess@db/shoal", DispatchConfig(), worker)
    assert await actor.made_of(other) is False
    asked = {name for name in vars(DispatcherActor) if not name.startswith("_")}
    assert asked == {"alive", "made_of", "ready", "stop", "workers"}  # a new method must be looked at here
