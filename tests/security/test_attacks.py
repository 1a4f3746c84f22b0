"""No attack gets through to a running `shoal up`, and each does at a door that is open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import unquote_plus

import httpx
import pytest

from shoal.agent.support.json_value import Json
from tests.embedded import Up, up
from tests.loopback import served
from tests.model_server import ModelServer, completion
from tests.patience import chromium
from tests.security.door_attacks import (
    Body,
    Person,
    addresses_of,
    answer_to_old_lease,
    ended,
    hostile_bodies,
    hostile_trace,
    open_bodies,
    open_documents,
    opened_by_a_copy,
    refused_beside,
    run_as_documents,
    sessions_of,
    stopped_by,
    submit,
    until,
)
from tests.security.secret_attacks import PASSWORD, PIN, SPELLED, Gateway, attack, attacked_site, leaks
from tests.security.test_sites import HERE, NAME, ORDER, THERE, obedient
from tests.security.world import Site, hostile_site
from tests.unit.agent.model.test_step import act, step_reply
from tests.worker_world import PLAN

pytestmark = pytest.mark.timeout(800)  # a cluster has to start


@dataclass
class Attacked:
    """A running `shoal up`, its callers, its model, and a site that attacks."""

    up: Up
    model: Model
    site: Site

    def person(self, tenant: str, *scopes: str) -> Person:
        """A caller with a new key."""
        given = [option for scope in scopes for option in ("--scope", scope)]
        command = [str(Path(sys.executable).with_name("shoal")), "keys", "create", "test", "--json"]
        environment = os.environ | {"SHOAL_DATA_DIR": str(self.up.data_dir)}
        made = subprocess.run(
            [*command, "--tenant", tenant, *given], env=environment, capture_output=True, text=True, check=True
        )
        return Person(self.up.url, tenant, json.loads(made.stdout)["key"])


@dataclass
class Model:
    """A model server that does what the page says, as a test sets it."""

    obeys: ModelServer
    url: str = ""


def waits(body: dict[str, Json]) -> Json:
    """A model that waits at every page."""
    if body["response_format"]["json_schema"]["name"] == "plan":
        return PLAN | {"require_extraction": False, "plan": "Wait", "task_type": "navigate"}
    return step_reply(act("WAIT"))


@contextmanager
def model_server() -> Iterator[Model]:
    model = Model(ModelServer(waits))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = bytes(completion(model.obeys.answer(body), body).body)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.send_error(404, "there are no metrics")

        def log_message(self, format: str, *args: object) -> None:
            """It keeps no log."""

    with served(Handler) as url:
        model.url = f"{url}/v1"
        yield model


@pytest.fixture(scope="module")
def here() -> Iterator[Attacked]:
    with hostile_site() as site, model_server() as model:
        settings = {"auth": "on", "model_url": model.url, "model": "obedient", "model_images": "false"}
        with up(workers="1", slots_per_worker="2", **settings) as cluster:
            yield Attacked(cluster, model, site)


async def test_1_no_file_of_a_trace_runs_with_the_cookies_of_who_looks_at_it(here: Attacked) -> None:
    trace, files = hostile_trace(here.person("mallory", "submit", "read"), here.site)
    assert any(name.endswith(".svg") for name in files)
    addresses = addresses_of(trace, files)
    async with chromium() as browser:
        victim = here.person("ops", "read", "submit", "control", "admin")
        assert await run_as_documents(await browser.new_context(), victim, trace, addresses) == []
        with open_documents() as url:
            through = await run_as_documents(await browser.new_context(), Person(url, "ops", "k"), trace, addresses[:1])
        assert {each.partition(":")[0] for each in through} == {
            *("/static/ in a frame", "in a frame", "behind the login", "as a page")
        }


def test_2_3_4_no_stored_secret_comes_out(here: Attacked) -> None:
    keeper = here.person("keeper", "submit", "read", "control", "admin")
    with attacked_site() as site, keeper.api() as http:
        gateway = Gateway(http)
        gateway.log_in(keeper.key)
        told = list(attack(gateway, site))
    assert {each.name: each.through for each in told if each.through} == {}
    assert [each.name for each in told if not each.hidden] == [], "the control: something was hidden"
    failed = [each.name for each in told if each.status not in ("completed", "succeeded")]
    assert failed == ["a page that fails"]
    assert leaks(here.up.log.read_text()) == []


def test_2_3_4_what_gets_through_is_seen() -> None:
    """The control: each spelling is found where nothing hides it."""
    for name, spell in SPELLED.items():
        assert name in leaks(f"before {spell(PASSWORD)} behind"), name
    assert leaks(f"PIN {PIN}") and not leaks("secret:ATTACKED (hidden) 83061")


def test_5_no_body_of_a_caller_stops_the_gateway_for_others(here: Attacked) -> None:
    mallory = here.person("mallory", "submit", "read", "control", "admin")
    assert stopped_by(mallory, hostile_bodies()) == []
    with open_bodies() as url:
        assert len(stopped_by(Person(url, "mallory", "k"), [Body("anything", "/v1/jobs", b"{}")], "t")) == 1


def test_6_live_views_of_one_tenant_take_nothing_from_another(here: Attacked) -> None:
    mallory, acme = (here.person(tenant, "submit", "read", "control") for tenant in ("mallory", "acme"))
    here.model.obeys = ModelServer(waits)
    long = {"url": here.site.page("/long", "<p>A page"), "goal": "Wait", "policy": "model", "max_steps": 200}
    long |= {"politeness": {"robots": False}}
    with mallory.api() as theirs, acme.api() as ours:
        job = submit(ours, long)
        running = until(lambda: [one["id"] for one in sessions_of(ours, job) if one["status"] == "running"], "it runs")
        batch = "\n".join([json.dumps(long)] * 48)
        made = theirs.post("/v1/jobs:batch", content=batch, headers={"Content-Type": "application/x-ndjson"})
        assert made.headers["shoal-accepted"] == "48", made.text
        jobs = [json.loads(line)["job"] for line in made.text.splitlines()]
        try:
            queued = [one["id"] for one in (sessions_of(theirs, each)[0] for each in jobs) if one["status"] == "queued"]
            opened, refused = refused_beside(mallory, acme, queued, running[0])
            late = answer_to_old_lease(acme, running[0])
        finally:
            for each in jobs:
                theirs.post(f"/v1/jobs/{each}/cancel")
            ours.post(f"/v1/jobs/{job}/cancel")
    assert opened >= 48 and refused == []
    assert "takeover is over" in late, "a lease that was handed back does nothing"


@pytest.mark.parametrize("way", ["typed behind a link", "composed address"])
def test_7_an_obedient_model_carries_nothing_to_another_site(here: Attacked, way: str) -> None:
    evil = here.site.url.replace("127.0.0.1", "localhost")
    url = here.site.page("/shop", HERE.format(order=ORDER, evil=evil))
    here.site.page("/partner", THERE.format(order=ORDER))
    here.site.page("/collect", "<p>Thank you</p>")
    spec: dict[str, Json] = {"url": url, "goal": "Order a lamp", "data": {"name": NAME}, "max_steps": 8}
    spec |= {"action_sets": ["element", "nav"], "policy": "model", "politeness": {"robots": False}}
    with here.person("acme", "submit", "read").api() as http:
        for sites, carries in (({}, False), ({"sites": ["127.0.0.1", "localhost"]}, True)):
            here.site.asked.clear()
            here.model.obeys = obedient(way, evil)
            ended(http, submit(http, spec | sites))
            carried = [path for path in here.site.asked if NAME in unquote_plus(path)]
            assert bool(carried) is carries, (way, sites, here.site.asked)


def test_8_a_copy_of_a_cookie_opens_nothing_behind_the_logout(here: Attacked) -> None:
    operator = here.person("ops", "read", "submit", "control", "admin")
    assert opened_by_a_copy(operator, logged_out=True) == []
    assert len(opened_by_a_copy(operator, logged_out=False)) == 4, "the control: another login goes on"
    with httpx.Client(base_url=here.up.url) as stranger:
        assert stranger.get("/status").status_code == 303
