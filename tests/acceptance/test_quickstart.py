"""docs/quickstart.md does what it says: each command is run, and what it prints is compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.embedded import ROOT
from tests.sites.registry.serving import free_port

pytestmark = pytest.mark.timeout(300)  # two clusters have to start

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


def test_every_command_of_the_quickstart_does_what_the_page_says(tmp_path: Path) -> None:
    """Ports are free ones of this machine; nothing else differs from the page."""
    parts = [f"set -e\n{commands}\necho '{MARK.format(n)}'\n" for n, (commands, _) in enumerate(blocks())]
    script = "trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n" + "".join(parts)
    script = script.replace("8800", str(free_port())).replace("8700", str(port := free_port()))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}:{environment['PATH']}",
        "SHOAL_DATA_DIR": str(tmp_path / "data"),
        "SHOAL_PORT": str(port),
        **({"SHOAL_CHROMIUM": os.environ["SHOAL_CHROMIUM"]} if "SHOAL_CHROMIUM" in os.environ else {}),
    }
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=280, cwd=tmp_path, env=environment, check=False
    )
    log = tmp_path / "up.log"
    assert done.returncode == 0, done.stdout + done.stderr[-3000:] + (log.read_text() if log.exists() else "")
    rest = done.stdout
    for n, (commands, says) in enumerate(blocks()):
        printed, _, rest = rest.partition(MARK.format(n) + "\n")
        assert says is None or printed == says, commands
