"""`observe`, `act`, `actions` and `doctor` as programs, on a page of our own in a real browser."""

from __future__ import annotations

import http.server
import json
import logging
import os
import socket
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from PIL import Image
from typer.testing import CliRunner, Result

from shoal.services.cli.app import app
from shoal.services.cli.commands.pages.page_work import PageOptions, WantedPicture, act_on_page, observe_page
from shoal.services.cli.ending import BadUsage
from shoal.services.settings import Settings
from tests.loopback import served

PAGE = b"""<!doctype html><title>Counter</title><h1>Shop</h1>
<form onsubmit="document.title = q.value; return false"><label>Word <input name="q"></label><button>Go</button></form>
<a href="/next">Next page</a> <a href="/notes.txt">Notes</a>"""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.send_response(404 if path == "/next" else 200)
        if path == "/notes.txt":
            self.send_header("Content-Disposition", "attachment")
        self.send_header("Content-Type", "text/plain" if path == "/notes.txt" else "text/html; charset=utf-8")
        self.end_headers()
        bodies = {"/": PAGE, "/notes.txt": b"some notes"}
        self.wfile.write(bodies.get(path, b"<title>Second</title><p>No such page"))

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    with served(Handler) as url:
        yield f"{url}/"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing of this machine's own Shoal gets into a test, and logs of a command end with it."""
    for name in [name for name in os.environ if name.startswith("SHOAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def shoal(*arguments: str, code: int = 0) -> Result:
    """A command in this process: as a program, each would spend three seconds of CPU on imports."""
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == code, (done.exit_code, done.stdout, done.stderr, done.exception)
    assert "Traceback" not in done.stderr
    return done


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command as a program of its own."""
    command = [sys.executable, "-c", "from shoal.services.cli import main; main()", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    assert "Traceback" not in done.stderr
    return done


def bid_in(element: dict, name: str) -> str | None:
    if name in (element.get("name"), element.get("text")) and element.get("clickable"):
        return element["bid"]
    return next((bid for child in element.get("children", []) if (bid := bid_in(child, name))), None)


def bid_of(page: str, name: str) -> str:
    found = bid_in(json.loads(shoal("observe", page, "--json").stdout)["elements"], name)
    assert found is not None
    return found


def test_a_page_is_shown_in_every_format_with_marks(page: str, tmp_path: Path) -> None:
    marks, pdf = tmp_path / "marks.png", tmp_path / "page.pdf"
    text = shoal("observe", page, "--marks", str(marks), "--pdf", str(pdf)).stdout
    assert "Shop" in text
    assert "Next page" in text
    assert marks.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    first = shoal("observe", page, "--max-elements", "1", "--word", "next").stdout
    assert "Next page" in first and "more not shown" in first
    shot = tmp_path / "element.png"
    listed = shoal("observe", page, "--format", "choices", "--screenshot", str(shot), "--region", "0,0,30,20").stdout
    assert listed.startswith("A. [")
    with Image.open(shot) as picture:
        assert picture.size == (30, 20)
    assert json.loads(shoal("observe", page, "--format", "json").stdout)["title"] == "Counter"
    assert "<button" in shoal("observe", page, "--format", "html").stdout


def test_actions_are_taken_and_their_results_told(page: str) -> None:
    field, button = bid_of(page, "Word"), bid_of(page, "Go")
    done = shoal("act", page, f"fill('{field}', 'kettle')\nclick('{button}')", "--json")
    first, second, last = (json.loads(line) for line in done.stdout.splitlines())
    assert (first["action"], first["ok"]) == (f"fill('{field}', 'kettle')", True)
    assert second["ok"]
    assert first["effect"]["value"] == "kettle"
    assert last["observation"]["title"] == "kettle"
    done = shoal("act", page, "click('99999')", code=1)
    assert "click('99999'): " in done.stdout
    assert "unparsable" not in done.stdout


async def test_ids_in_a_budget_are_those_that_actions_take(capsys: pytest.CaptureFixture[str]) -> None:
    column = "".join(f"<p><button>{{}} {n}</button>" for n in range(300))
    columns = "".join(f"<div style='float:left'>{column.format(*[side] * 300)}</div>" for side in ("left", "right"))
    address = f"data:text/html,{urllib.parse.quote(columns)}"

    async def bid(name: str, **budget: Any) -> str | None:
        options = PageOptions(Settings(), headed=False, max_chars=None, **budget)
        await observe_page(address, "json", options, marks="", picture=WantedPicture(""), pdf="")
        told = capsys.readouterr().out
        return bid_in(json.loads(told[told.index("{") :])["elements"], name)  # log lines of this process come first

    assert await bid("right 3", max_elements=30) == await bid("right 3") is not None
    with pytest.raises(BadUsage, match="the whole page"):
        few = PageOptions(Settings(), headed=False, max_chars=None, max_elements=3)
        await observe_page(address, "choices", few, marks="", picture=WantedPicture(""), pdf="")


async def test_files_are_not_kept_where_no_folder_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    options = PageOptions(Settings(), headed=False, max_chars=None, downloads=str(tmp_path / "file"))
    with pytest.raises(BadUsage, match="cannot keep files"):
        await act_on_page("about:blank", [], "browsergym", "text", options, as_json=True)


def test_files_that_a_page_gives_are_kept_in_the_named_folder(page: str, tmp_path: Path) -> None:
    link, folder = bid_of(page, "Notes"), tmp_path / "files"
    done = shoal("act", page, f"download('{link}')", "--downloads", str(folder), "--json")
    told, last = (json.loads(line) for line in done.stdout.splitlines())
    assert (told["effect"]["download"], told["value"]["filename"]) == (True, "notes.txt")
    assert last["observation"]["downloads"][0]["path"] == str(folder / "notes.txt")
    assert (folder / "notes.txt").read_bytes() == b"some notes"
    shoal("act", page, f"click('{link}')", "--downloads", str(folder))
    assert len(list(folder.iterdir())) == 2


def test_an_address_with_a_search_part_is_opened_with_and_without_its_scheme(page: str) -> None:
    for address in (
        f"{page}?q=a+b&next=https://example.com/#x",
        f"{page.partition('//')[2]}?next=https://example.com/",
    ):
        (told, last) = (json.loads(line) for line in shoal("act", address, "noop(1)", "--json").stdout.splitlines())
        assert told["ok"]
        assert last["observation"]["url"] == "http://" + address.removeprefix("http://")
    assert "no host name" in shoal("observe", "http:///x?y=1".removeprefix("http:"), code=2).stderr


def test_what_cannot_be_done_is_told_in_a_sentence(page: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        unanswered = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        assert unanswered in shoal("observe", unanswered, code=1).stderr
    assert shoal("act", page, "no call at all(", code=1).stderr.strip()
    assert "there is no action set 'odd'" in shoal("actions", "--set", "odd", code=2).stderr.lower()


def test_the_catalogue_lists_every_action(page: str) -> None:
    listed = json.loads(shoal("actions", "--json").stdout)
    assert {"click", "fill", "goto", "terminate"} <= {one["name"] for one in listed}
    assert "click(bid" in shoal("actions", "--set", "element").stdout


def test_the_doctor_examines_this_machine() -> None:
    done = program("doctor", "--json")
    assert done.returncode in (0, 3), done.stderr
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"python", "chromium"} <= {finding["name"] for finding in findings}
    assert all(finding["ok"] or finding["remedy"] for finding in findings)


def test_as_programs_they_print_the_page_alone_and_say_the_rest_on_standard_error(page: str) -> None:
    done = program("observe", page + "next", "--json")
    assert (done.returncode, json.loads(done.stdout)["title"]) == (0, "Second")
    assert "answered with 404" in done.stderr
