"""Node-RED: flows of nodes on a canvas, which are deployed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _solver import Move, Task, all_of, click, drag, fill, keys, twice

from apps.asking import call_api, job
from shoal.agent.support.json_value import Json
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

_SETTINGS = """module.exports = {
  flowFile: 'flows.json', uiHost: '127.0.0.1', credentialSecret: 'of-a-test',
  editorTheme: { tours: false, projects: { enabled: false } },
  telemetry: { enabled: false }, externalModules: { palette: { allowInstall: false } },
};"""
_FLOWS = [
    {"id": "f1", "type": "tab", "label": "Greenhouse", "disabled": False, "info": ""},
    {
        **{"id": "n1", "type": "inject", "z": "f1", "name": "every hour", "props": [{"p": "payload"}], "repeat": ""},
        **{"crontab": "", "once": False, "topic": "", "payload": "21", "payloadType": "num", "x": 140, "y": 100},
        "wires": [["n2"]],
    },
    {
        **{"id": "n2", "type": "change", "z": "f1", "name": "to Fahrenheit", "x": 360, "y": 100, "wires": [["n3"]]},
        "rules": [{"t": "set", "p": "payload", "pt": "msg", "to": "payload * 9 / 5 + 32", "tot": "jsonata"}],
    },
    {
        **{
            "id": "n3",
            "type": "debug",
            "z": "f1",
            "name": "shown",
            "active": True,
            "tosidebar": True,
            "console": False,
        },
        **{"tostatus": False, "complete": "payload", "targetType": "msg", "x": 580, "y": 100, "wires": []},
    },
    {"id": "f2", "type": "tab", "label": "Attic", "disabled": False, "info": ""},
]


@contextmanager
def served(folder: Path) -> Iterator[tuple[str]]:
    """A flow that turns degrees, and an empty one."""
    program = cache.node("node-red", ["node-red@4.1.8"]) / "node-red" / "red.js"
    (folder / "settings.js").write_text(_SETTINGS, encoding="utf-8")
    (folder / "flows.json").write_text(json.dumps(_FLOWS), encoding="utf-8")
    port = sites.free_port()
    command = ["node", str(program), "--userDir", str(folder), "--port", str(port), "flows.json"]
    with sites.program(command, port, cwd=folder, path="/flows") as url:
        yield (url,)


def tasks(url: str) -> list[Task]:
    """Nodes are called otherwise, added and taken away, and the change is deployed."""

    def flows() -> list[dict[str, Json]]:
        return list(call_api(f"{url}/flows"))

    def named(name: str, key: str = "name") -> list[Json]:
        return [one for one in flows() if one.get(key) == name]

    rename = all_of(fill("textbox", "^Name$", "daily"), click("button", "^Done$"))
    deployed = {"text": "Successfully deployed"}
    return [
        Task(
            "node-red rename",
            job(
                f"{url}/", "Call the node 'every hour' otherwise, and deploy", "node-red rename", data={"name": "daily"}
            ),
            over="Successfully deployed",
            moves=(
                Move(
                    "Edit inject node",
                    rename,
                    last=False,
                ),
                Move('"daily"', all_of(click("link", "^Deploy$")), deployed),
                Move("", all_of(twice("rect", "^every hour$")), last=False),
            ),
            right=lambda told: bool(named("daily")) and not named("every hour"),
            perfect=3,
        ),
        Task(
            "node-red delete",
            job(f"{url}/", "Delete the node 'shown', and deploy", "node-red delete"),
            over="Successfully deployed",
            moves=(Move("", all_of(click("rect", "^shown$"), keys("Delete"), click("link", "^Deploy$")), deployed),),
            right=lambda told: bool(flows()) and not named("shown"),
        ),
        Task(
            "node-red add",
            job(f"{url}/", "Put a switch into the flow Greenhouse, and deploy", "node-red add"),
            over="Successfully deployed",
            moves=(
                Move(
                    "",
                    all_of(drag(("div", "^switch$"), ("rect", "^to Fahrenheit$")), click("link", "^Deploy$")),
                    deployed,
                ),
            ),
            right=lambda told: [one["z"] for one in named("switch", "type")] == ["f1"],
        ),
        Task(
            "node-red tab",
            job(f"{url}/", "Call the flow Attic otherwise, and deploy", "node-red tab", data={"name": "Loft"}),
            over="Successfully deployed",
            moves=(
                Move("Edit flow", all_of(fill("textbox", "^Name$", "Loft"), click("button", "^Done$")), last=False),
                Move('"Loft"', all_of(click("link", "^Deploy$")), deployed),
                Move("", all_of(twice("link", "^Attic$")), last=False),
            ),
            right=lambda told: bool(named("Loft", "label")),
            perfect=3,
        ),
    ]
