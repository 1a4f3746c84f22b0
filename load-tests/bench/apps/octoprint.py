"""OctoPrint: a printer that its maker's own simulation stands for, with the files that it prints."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _solver import Move, Task, all_of, click, fill, of

from apps.asking import eventually, job
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

_KEY = "of-a-test" * 4
_SETTINGS = {
    "server": {"firstRun": False, "onlineCheck": {"enabled": False}, "pluginBlacklist": {"enabled": False}},
    "accessControl": {
        **{"autologinLocal": True, "autologinAs": "ada", "localNetworks": ["127.0.0.0/8"]},
        "autologinHeadsupAcknowledged": True,
    },
    "api": {"key": _KEY},
    "plugins": {
        "_disabled": [
            *("softwareupdate", "announcements", "tracking", "discovery", "errortracking", "health_check"),
            *("achievements", "file_check", "firmware_check", "pi_support"),
        ],
        "virtual_printer": {"enabled": True},
    },
    "serial": {"port": "VIRTUAL", "autoconnect": False},
}


@contextmanager
def served(folder: Path) -> Iterator[tuple[str]]:
    """A printer that is not connected, and two files."""
    program = str(cache.pypi("octoprint", ["octoprint==1.11.8", "setuptools==80.10.2"]).with_name("octoprint"))
    (folder / "config.yaml").write_text(json.dumps(_SETTINGS), encoding="utf-8")
    options = ["--basedir", str(folder), "--config", str(folder / "config.yaml")]
    sites.run(program, *options, "user", "add", "ada", "--password", "plum-tree-7", "--admin")
    port = sites.free_port()
    command = [program, "serve", "--host", "127.0.0.1", "--port", str(port), *options, "--iknowwhatimdoing"]
    with sites.program(command, port, cwd=folder, path="/api/version") as url:
        for name in ("vase.gcode", "hook.gcode"):
            _upload(url, name)
        yield (url,)


def _upload(url: str, name: str) -> None:
    """Puts a file there, as a form that has one would."""
    head = f'--part\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = f"{head}G28\nG1 X10 Y10\n\r\n--part--\r\n".encode()
    headers = {"content-type": "multipart/form-data; boundary=part", "x-api-key": _KEY}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/api/files/local", body, headers), timeout=30):
        pass


def _read_api(url: str, path: str) -> Any:
    """Return what its interface says."""
    with urllib.request.urlopen(urllib.request.Request(f"{url}/api/{path}", headers={"x-api-key": _KEY})) as answer:
        return json.load(answer)


def tasks(url: str) -> list[Task]:
    """The printer is connected and heated, and files are looked at, put in order and deleted."""

    def files() -> list[str]:
        return sorted(one["name"] for one in _read_api(url, "files")["files"])

    def heated() -> bool:
        return bool(_read_api(url, "printer")["temperature"]["tool0"]["target"] == 60)

    return [
        Task(
            "octoprint connect",
            job(f"{url}/", "Connect the printer", "octoprint connect"),
            over="State: Operational",
            moves=(Move("", all_of(click("button", "^Connect$")), {"text": "State: Operational"}),),
            right=lambda told: _read_api(url, "connection")["current"]["state"] == "Operational",
        ),
        Task(
            "octoprint heat",
            job(f"{url}/", "Heat the tool to 60 degrees", "octoprint heat", data={"degrees": "60"}),
            over=r"Target T: 60\.0",
            moves=(
                Move('="60"', all_of(click("button", "^Set$")), {"text": "Target T: 60.0°C"}),
                Move("", all_of(fill("spinbutton", "", "60")), last=False),
            ),
            right=lambda told: eventually(heated),
            perfect=2,
        ),
        Task(
            "octoprint print",
            job(f"{url}/", "Print vase.gcode", "octoprint print"),
            over=r"File: vase\.gcode",
            moves=(
                Move("", all_of(of(r"^vase\.gcode$", click("link", "^Load and Print$"))), {"text": "File: vase.gcode"}),
            ),
            right=lambda told: eventually(lambda: _read_api(url, "job")["job"]["file"]["name"] == "vase.gcode"),
        ),
        Task(
            "octoprint folder",
            job(f"{url}/", "Make a folder", "octoprint folder", data={"name": "spring"}),
            over='"spring"',
            moves=(
                Move(
                    "# Create Folder",
                    all_of(fill("textbox", "^Folder name$", "spring"), click("link", "^Create$")),
                    {"element": "spring"},
                ),
                Move("", all_of(click("span", r"^Create folder")), last=False),
            ),
            right=lambda told: "spring" in files(),
            perfect=2,
        ),
        Task(
            "octoprint delete",
            job(f"{url}/", "Delete hook.gcode", "octoprint delete"),
            over="navigate, completed",
            moves=(
                Move("# Are you sure", all_of(click("link", "^Proceed$")), {"acted": True}),
                Move("", all_of(of(r"^hook\.gcode$", click("link", "^Remove$"))), last=False),
            ),
            right=lambda told: "hook.gcode" not in files(),
            perfect=2,
        ),
    ]
