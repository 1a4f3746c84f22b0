"""docs/quickstart.md does what it says: each command is run, and what it prints is compared.

`make test-deploy` (TEST_WHEEL) runs it with the checkout, and with the wheel alone, installed by pip.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.agent.support.json_value import Json
from tests.embedded import ROOT
from tests.model_server import ModelServer, serving
from tests.sites.registry.serving import free_port
from tests.unit.agent.model.test_step import act, step_reply
from tests.worker_world import PLAN

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(not os.environ.get("TEST_WHEEL"), reason="three clusters have to start: make test-deploy"),
]

PAGE = ROOT / "docs" / "quickstart.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "--- end of block {} ---"


def blocks() -> list[tuple[str, str | None]]:
    """Each block of commands with what it prints; None: the page does not say."""
    found: list[tuple[str, str | None]] = []
    for kind, body in BLOCK.findall(PAGE.read_text()):
        if kind == "sh":
            found.append((body, None))
        else:
            found[-1] = (found[-1][0], body)
    return found


def model(body: Json) -> str:
    """Return what a model answers that knows which lamp is meant;
    it reads the page and the link's id in what it is shown.
    """
    content = body["messages"][1]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    shown = "\n".join(part["text"] for part in parts if part["type"] == "text")
    is_there = "EUR 12.50" in shown
    match body["response_format"]["json_schema"]["name"]:
        case "plan" if is_there:
            return json.dumps(PLAN | {"plan": "Read name and price", "task_type": "extract", "ends_goal": True})
        case "plan":
            return json.dumps(PLAN | {"plan": "Open the page of the night light", "task_type": "navigate"})
        case "step" if is_there:
            return json.dumps(step_reply(act("COMPLETE"), achieved=True))
        case "step":
            link = re.search(r'\[(\w+) link "Night light"', shown)
            assert link, shown
            return json.dumps(step_reply(act("CLICK", id=link[1])))
        case _:
            price = re.search(r"EUR ([\d.]+)", shown)
            assert price, shown
            return json.dumps({"shown": 1, "records": [{"name": "Night light", "price": float(price[1])}]})


def follow_the_page(programs: Path, folder: Path) -> None:
    """Runs every command from an empty folder, with the programs of one virtual environment before all others.

    Ports are free ones of this machine, and the model is a scripted one; nothing else differs from the page.
    """

    async def follow() -> None:
        async with serving(ModelServer(model)) as server:
            await asyncio.to_thread(run_the_page, programs, folder, server.url)

    asyncio.run(follow())


def run_the_page(programs: Path, folder: Path, model_url: str) -> None:
    parts = [f"set -e\n{commands}\necho '{MARK.format(n)}'\n" for n, (commands, _) in enumerate(blocks())]
    script = "trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n" + "".join(parts)
    script = script.replace("8800", str(free_port())).replace("8700", str(port := free_port()))
    script = script.replace("http://127.0.0.1:8000/v1", model_url)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SHOAL_", "PYTHON"))}
    environment |= {
        "PATH": f"{programs}:{environment['PATH']}",
        "SHOAL_DATA_DIR": str(folder.parent / "data"),
        "SHOAL_PORT": str(port),
        **({"SHOAL_CHROMIUM": os.environ["SHOAL_CHROMIUM"]} if "SHOAL_CHROMIUM" in os.environ else {}),
    }
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=560, cwd=folder, env=environment, check=False
    )
    log = folder / "up.log"
    assert done.returncode == 0, done.stdout + done.stderr[-3000:] + (log.read_text() if log.exists() else "")
    rest = done.stdout
    for n, (commands, output) in enumerate(blocks()):
        printed, _, rest = rest.partition(MARK.format(n) + "\n")
        assert output is None or printed == output, commands


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def test_every_command_of_the_quickstart_does_what_the_page_says(empty: Path) -> None:
    follow_the_page(Path(sys.executable).parent, empty)


@pytest.mark.timeout(1800)  # installs all packages anew
def test_the_wheel_alone_runs_the_quickstart(empty: Path, tmp_path: Path) -> None:
    """A stranger's machine: no checkout, no lock, an empty folder."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    source = tmp_path / "source"  # building leaves files in the folder of the sources
    subprocess.run(["git", "checkout-index", "--all", f"--prefix={source}/"], check=True, cwd=ROOT)
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, source], check=True, cwd=empty)
    (wheel,) = tmp_path.glob("*.whl")
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", home], check=True, cwd=empty)
    subprocess.run([*pip, "--python", home, "install", wheel], check=True, cwd=empty)
    where = subprocess.run(
        [home / "bin" / "python", "-c", "import shoal; print(shoal.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=empty,
    )
    assert where.stdout.startswith(str(home)), where.stdout
    follow_the_page(home / "bin", empty)
