# ruff: noqa: E501
"""Fields that open a list of the site's own: what the site is sent is what was chosen there, or nothing is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from shoal.agent.browser import Browser, Context
from shoal.agent.errors import FormIncomplete
from shoal.agent.models.model import Ask
from shoal.agent.observe.tree import walk_elements
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.rules.planning import SEND
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.sessions import session
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action
from shoal.agent.workflows.elements.describing import Described, describe
from tests.doubles import ScriptedModel
from tests.integration.rules.test_forms import navigate, state
from tests.loopback import served
from tests.unit.agent.model.test_step import act, step_reply
from tests.unit.session.test_session import Notes, deps, work
from tests.worker_world import PLAN

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOWNS = {"Berlin": 11, "Bern": 12, "Bergen": 13, "Springfield": 14}
FORM = """<!doctype html><html lang=en><title>Move</title><h1>Move</h1><form method=post action=/move>
 <label for=town>Town</label> <input id=town ATTRIBUTES autocomplete=off>
 <input type=hidden name=town_id value=99><ul id=list role=listbox hidden style="margin:0"></ul>
 <label>Name <input name=name></label><button>Send</button></form>
<script>
  const show = towns => { list.innerHTML = towns.map(([name, id]) => `<li role=option data-id=${id}>${name}</li>`).join('');
    list.hidden = !towns.length; town.setAttribute('aria-expanded', String(!!towns.length)); };
  const close = () => show([]);
  list.onmousedown = event => event.preventDefault();
  HOW
</script>"""
ARIA = "name=town_text role=combobox aria-expanded=false aria-controls=list aria-autocomplete=list"
LATE = """let timer; town.oninput = () => { clearTimeout(timer); timer = setTimeout(async () =>
    show(await (await fetch('/towns?q=' + encodeURIComponent(town.value))).json()), 300); };"""
TAKES = "list.onclick = event => { town.value = event.target.textContent; document.querySelector('[name=town_id]').value = event.target.dataset.id; close(); };"
IGNORES = "list.onclick = () => {}; town.addEventListener('input', () => { document.querySelector('[name=town_id]').value = ''; });"
CHIPS = """list.onclick = event => { const one = event.target; close(); town.value = '';
    document.forms[0].insertAdjacentHTML('beforeend', `<b>${one.textContent}</b><input type=hidden name=towns value=${one.dataset.id}>`); };"""


@dataclass
class Movers:
    """The site and what it was sent."""

    url: str = ""
    posts: list[dict[str, str]] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)


class _Handler(BaseHTTPRequestHandler):
    site: Movers

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/towns":
            typed = parse_qs(parts.query).get("q", [""])[0].lower()
            found: list[Any] = [town for town in TOWNS.items() if town[0].lower().startswith(typed)]
            if typed == "springfield":
                found.append(("Springfield", 15))
            if typed == "basel":
                found = [("Basel (Landschaft)", 16), ("Basel (Stadt)", 17)]
            self._answer(json.dumps(found), "application/json")
        else:
            self._answer(self.site.pages.get(parts.path, ""), "text/html; charset=utf-8")

    def do_POST(self) -> None:
        self.site.posts.append(dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode())))
        self._answer("<!doctype html><title>Thanks</title><h1>Thank you</h1>", "text/html; charset=utf-8")

    def _answer(self, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silence: what was sent is in `site.posts`."""


@pytest.fixture
def movers() -> Iterator[Movers]:
    here = Movers()
    with served(type("Handler", (_Handler,), {"site": here})) as here.url:
        yield here


async def fills(page: Context, movers: Movers, town: str, how: str, attributes: str = ARIA) -> None:
    movers.pages["/"] = FORM.replace("ATTRIBUTES", attributes).replace("HOW", LATE + how)
    await page.goto(f"{movers.url}/")
    end, _ = await navigate(state(page, movers.url, goal="send the form", data={"town": town, "name": "Ann"}), SEND)
    assert end.name == "complete"


@pytest.mark.parametrize("attributes", [ARIA, "aria-autocomplete=both", "aria-haspopup=listbox aria-owns=list"])
async def test_the_option_that_is_the_same_text_is_chosen_and_sent(
    page: Context, movers: Movers, attributes: str
) -> None:
    await fills(page, movers, "berlin", TAKES, attributes)
    (sent,) = movers.posts
    assert (sent["town_id"], sent["name"]) == ("11", "Ann")


async def test_what_is_chosen_may_be_sent_by_a_field_that_comes_with_it(page: Context, movers: Movers) -> None:
    await fills(page, movers, "Bern", CHIPS)
    (sent,) = movers.posts
    assert sent["towns"] == "12"


async def test_a_fill_chooses_the_option_that_is_its_text_and_no_other(page: Context, movers: Movers) -> None:
    movers.pages["/"] = FORM.replace("ATTRIBUTES", ARIA).replace("HOW", LATE + TAKES)
    await page.goto(f"{movers.url}/")
    held = "() => [town.value, document.querySelector('[name=town_id]').value, list.children.length]"
    for typed, holds in (("Ber", ["Ber", "99", 3]), ("berlin", ["Berlin", "11", 0])):
        (bid,) = await page.locate(["#town"])
        result = await page.act(Action("fill", {"bid": bid, "value": typed}))
        assert result.error is None, result.error
        assert await page.read(held) == holds


@pytest.mark.parametrize(
    ("town", "how", "told"),
    [
        ("Basel", TAKES, r"town .*'Town'.*no option 'Basel'; there are: Basel \(Landschaft\), Basel \(Stadt\)"),
        ("Zug", TAKES, "no option 'Zug'; there are: none"),
        ("Springfield", TAKES, "2 options are called 'Springfield'"),
        ("Berlin", IGNORES, "did not take the option 'Berlin'"),
    ],
)
async def test_a_field_that_cannot_be_filled_is_named_and_nothing_is_sent(
    page: Context, movers: Movers, town: str, how: str, told: str
) -> None:
    with pytest.raises(FormIncomplete, match=told):
        await fills(page, movers, town, how)
    assert movers.posts == []


@pytest.mark.parametrize(("typed", "button"), [("Zug", ""), ("Ber", "type=button onclick=this.form.submit()")])
async def test_a_model_that_types_no_option_sends_nothing_until_it_chooses_one(
    browser: Browser, movers: Movers, typed: str, button: str
) -> None:
    page = FORM.replace("ATTRIBUTES", ARIA).replace("HOW", LATE + TAKES)
    movers.pages["/"] = page.replace("<button>", f"<button {button}>")
    told: list[str] = []

    def script(ask: Ask) -> Json:
        if ask.schema_name == "plan":
            return PLAN | {"plan": "Move", "task_type": "navigate", "require_extraction": False}
        shown = "".join(message.text for message in ask.messages)
        town, send = (re.search(rf"\[(\w+) {kind}", shown) for kind in ("combobox", "button"))
        told.append(shown)
        if town is None or send is None:
            return step_reply(act("COMPLETE"), achieved=True)
        choose = act("SELECT_OPTION", id=town[1], option={"label": "Berlin"})
        step = [act("INPUT_TEXT", id=town[1], text=typed), act("CLICK", id=send[1]), choose, act("CLICK", id=send[1])]
        return step_reply(step[len(told) - 1])

    job = work(goal="Move to Berlin", data={"town": typed}, url=f"{movers.url}/")
    policy = ModelPolicy(ScriptedModel(script), RulesPolicy())
    outcome = await session.run(job, deps(browser, Notes(), policy=policy))  # type: ignore[arg-type]
    assert [sent["town_id"] for sent in movers.posts] == ["11"], outcome
    assert f"'Town' holds '{typed}'" in told[2].replace('combobox "Town"', "'Town'")
    assert "Berlin, Bern, Bergen" in told[2] if typed == "Ber" else "there are: none" in told[2]


SAID = """<form method=post><input id=role role=combobox><input id=list aria-autocomplete=list><input id=both aria-autocomplete=both>
<input id=owns aria-haspopup=listbox><input id=dialog aria-haspopup=dialog><input id=data role=combobox list=d><datalist id=d></datalist>
<input id=search type=search role=combobox><textarea id=area role=combobox></textarea></form>
<form role=search><input id=asked role=combobox><input></form><form><input id=alone name=q role=combobox><button>Go</button></form>
<form><input id=nameless role=combobox></form><form><input id=filter name=q role=combobox><input name=to></form>"""


async def test_which_field_is_chosen_from_is_told_alike_to_all(page: Context, movers: Movers) -> None:
    movers.pages["/"] = SAID
    await page.goto(f"{movers.url}/")
    seen = {each.bid: each.chooses for each in walk_elements((await page.observe()).elements)}
    chosen = set()
    for name in re.findall(r"id=(\w+)", SAID):
        for bid in await page.locate([f"#{name}"]):
            known = await describe(page, bid)
            assert isinstance(known, Described) and known.chooses == seen.get(bid, False), name
            chosen |= {name} if known.chooses else set()
    assert chosen == {"role", "list", "both", "owns", "nameless", "filter"}
