"""Commands by which people answer running sessions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import httpx
import pytest
from typer.testing import Result

from shoal.services.web.specs.specs import SpecRules
from tests.patience import PATIENCE_S
from tests.unit.cli.conftest import Served, serve

ID = "0123456789abcdef" * 2
ASKED = {"id": ID, "tenant": "default", "kind": "code", "question": "Which code?", "page": "https://x.example/"}


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A gateway that takes questions of workers."""
    yield from serve(monkeypatch, help_token="token", rules=SpecRules(people=True))


def test_a_question_is_listed_and_answered(asking: Served, shoal: Callable[..., Result]) -> None:
    def ask() -> httpx.Response:
        body = ASKED | {"job": "j1", "session": "s1"}
        headers = {"Authorization": "Bearer token"}
        return httpx.post(f"{asking.url}/v1/questions", json=body, headers=headers, timeout=PATIENCE_S)

    assert ask().status_code == 202
    (one,) = [json.loads(line) for line in shoal("questions", "--json").stdout.splitlines()]
    assert (one["id"], one["question"], one["job"]) == (ID, "Which code?", "j1")
    assert "Which code?" in shoal("questions").stdout and ID in shoal("questions").stdout
    assert shoal("questions", "--job", "j2", "--json").stdout == ""
    assert "answered" in shoal("answer", ID, "123456").stderr
    assert ask().json() == {"answer": "123456"}
    assert "No session waits" in shoal("answer", ID, "again", code=2).stderr
