"""Answers of a gateway about a job hold no stored secret: real store, dispatcher, worker, gateway, and no browser."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx
import pytest

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Download
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.browsers.config import WorkerConfig
from shoal.services.store import ids
from shoal.services.web.app import create_app
from shoal.services.web.deps import GatewayDeps, GatewayOptions
from tests.cluster_world import world
from tests.doubles import FakePage
from tests.gateway_world import FixedNames
from tests.security.secret_attacks import PASSWORD, PIN, leaks, paths_of, texts_of
from tests.spelled import SPELLED
from tests.worker_world import FakeParts

URL = "http://shop.example/"


def pages(file: Path) -> dict[str, FakePage]:
    """A list whose links hold the secret, and items that show it; the last one fails with it."""
    shown: Json = {"n": 1, "all": [spell(PASSWORD) for spell in SPELLED.values()], "pin": PIN, PASSWORD: PIN}
    given = Download(f"{PASSWORD}.csv".replace("/", "-"), f"{URL}export?{quote_plus(PASSWORD)}", 9, path=str(file))
    links = [f"{URL}{n}?pw={quote_plus(PASSWORD)}&q={quote_plus(PASSWORD)}" for n in range(3)]
    value = quote(PASSWORD, safe="")  # as the sessions of the items spell it, which are given the links without it
    opened = [f"{URL}{n}?pw={value}&q={value}" for n in range(3)]
    items = {link: FakePage(title=PASSWORD, read=shown, gives=(given,)) for link in opened[:2]}
    return {URL: FakePage(read=links)} | items | {opened[2]: FakePage(status=404, read=f"no {PASSWORD} here")}


@pytest.fixture
async def responses(tmp_path: Path) -> AsyncIterator[dict[str, str]]:
    """All that a gateway gives of such a job, by its path."""
    folder = tmp_path / "secrets" / "t"
    folder.mkdir(parents=True)
    for name, value in (("ATTACKED", PASSWORD), ("ATTACKED_PIN", PIN)):
        (folder / name).write_text(value)
        (folder / f"{name}.domains").write_text("http://shop.example\n")
    file = tmp_path / "export.csv"
    file.write_text(f"password\n{PASSWORD}\n")
    kept = MemoryArtifacts()

    class Sharing(FakeParts):
        def __post_init__(self) -> None:
            super().__post_init__()
            self.artifacts = kept

    config = WorkerConfig(slots=2, artifacts_url="memory:", secrets_dir=str(folder.parent))
    async with world(pages(file), config=config, parts=Sharing) as here:
        job = await here.submit(
            loop={"from": {"select": "a"}},
            extract={"schema": {"type": "object"}},
            secrets={"ATTACKED": {"domains": ["shop.example"]}, "ATTACKED_PIN": {"domains": ["shop.example"]}},
        )
        row = await here.final(job)
        assert (row.status, row.counts.completed, row.counts.failed) == (Status.COMPLETED, 2, 1)
        app = create_app(GatewayDeps(here.store, kept, GatewayOptions(auth=False), FixedNames({})))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8700") as client:
            name = ids.job_id(job)
            sessions = (await client.get(f"/v1/jobs/{name}/sessions")).json()["sessions"]
            details = [(await client.get(f"/v1/sessions/{session['id']}")).json() for session in sessions]
            given = {}
            for path in paths_of(name, details):
                answer = await client.get(path, follow_redirects=True)
                assert answer.status_code < 400, path
                given |= dict(texts_of(path, answer.content))
            yield given


async def test_nothing_that_is_given_of_a_job_has_its_secret(responses: dict[str, str]) -> None:
    assert {path: told for path, text in responses.items() if (told := leaks(text))} == {}


async def test_the_reference_stands_in_its_place_everywhere(responses: dict[str, str]) -> None:
    def with_reference(word: str) -> Iterator[str]:
        return (path for path, text in responses.items() if word in path and "secret:ATTACKED" in text)

    for word in ("/results", "format=csv", "format=parquet", "/sessions/s", "/artifacts/", "/records"):
        assert any(with_reference(word)), word
