# ruff: noqa: E501
"""Texts that are no option of a field's list: sent where what goes out holds them, refused where the field or the page does not."""

from __future__ import annotations

import re

import pytest

from shoal.agent.actions.primitives import options
from shoal.agent.browser import Browser
from shoal.agent.models.model import Ask
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.sessions import session
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Outcome
from tests.doubles import ScriptedModel
from tests.integration.rules.test_comboboxes import Movers, movers
from tests.unit.agent.model.test_step import act, step_reply
from tests.unit.session.test_session import Notes, deps, work
from tests.worker_world import PLAN

__all__ = ["movers"]
pytestmark = pytest.mark.asyncio(loop_scope="session")

FIELD = "<label>Town <input id=town TOWN role=combobox aria-expanded=false aria-controls=list aria-autocomplete=list autocomplete=off></label>"
LISTS = """let chosen = null;
  const show = towns => { list.innerHTML = towns.map(name => `<li role=option>${name}</li>`).join(''); list.hidden = !towns.length;
    town.setAttribute('aria-expanded', String(!!towns.length)); };
  town.oninput = () => { chosen = null; show(['Bergen', 'Berlin', 'Bern'].filter(one => one.toLowerCase().startsWith(town.value.toLowerCase()))); };
  list.onmousedown = event => { event.preventDefault(); town.value = chosen = event.target.textContent; show([]); };"""
FORM = f"""<!doctype html><html lang=en><title>Move</title><h1>Move</h1><form method=post action=/move>{FIELD} BESIDE
<ul id=list role=listbox hidden style="margin:0"></ul><label>Name <input id=person name=person></label><BUTTON>Send</button></form>
<p id=out></p><script>{LISTS} HOW</script>"""
SENDS = """document.querySelector('button').onclick = async () => { const body = new URLSearchParams(FACTS);
  try { out.textContent = await (await fetch('/move', {method: 'POST', body})).text() ? 'Thank you' : ''; } catch { out.textContent = 'No network'; } };"""
NATIVE, BY_SCRIPT = "button", "button type=button"
TEXT, CHOSEN = "{town: town.value, person: person.value}", "{town: chosen || '', person: person.value}"


def page(name: str = "name=town", beside: str = "", button: str = NATIVE, how: str = "", facts: str = "") -> str:
    script = how + (SENDS.replace("FACTS", facts) if facts else "")
    return FORM.replace("TOWN", name).replace("BESIDE", beside).replace("BUTTON", button).replace("HOW", script)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of these pages open at once."""
    monkeypatch.setattr(options, "_SUGGEST_S", 0.2)


def on_leaving(does: str) -> str:
    return f"town.onblur = () => {{ {does} }};"


async def move(
    browser: Browser, movers: Movers, shown: str, *, town: str = "Zug", again: bool = False
) -> tuple[Outcome, str]:
    """Types the town, with `again` the name too, presses Send and calls it done; what the model was told of it last."""
    movers.pages["/"] = shown
    told: list[str] = []

    def script(ask: Ask) -> Json:
        if ask.schema_name == "plan":
            if len(told) > 1:
                return PLAN | {"require_extraction": False, "user_goal_achieved": True}
            return PLAN | {"plan": "Move", "task_type": "navigate", "require_extraction": False}
        seen = "".join(message.text for message in ask.messages)
        told.append(seen)
        field, person, send = (re.search(rf"\[(\w+) {kind}", seen) for kind in ("combobox", 'textbox "Name"', "button"))
        if len(told) > 1 or field is None or person is None or send is None:
            return step_reply(act("COMPLETE"), achieved=True)
        names = [act("INPUT_TEXT", id=person[1], text="Ann")] if again else []
        return step_reply(act("INPUT_TEXT", id=field[1], text=town), *names, act("CLICK", id=send[1]))

    job = work(goal="Move", data={"town": town, "name": "Ann"}, url=f"{movers.url}/")
    policy = ModelPolicy(ScriptedModel(script), RulesPolicy())
    outcome = await session.run(job, deps(browser, Notes(), policy=policy))  # type: ignore[arg-type]
    return outcome, told[1]


NOT_SENT = {Status.FAILED, Status.UNSURE}
"""The second where the page listens as it is typed into: a mark tells of that."""
TAKEN = {
    "by the form": page(),
    "by a script": page("", button=BY_SCRIPT, facts=TEXT),
    "by a script, as JSON": page("", button=BY_SCRIPT, facts="{entries: JSON.stringify([{town: town.value}])}"),
    "by a form that asks by its address": page()
    .replace("method=post", "method=get")
    .replace("name=person", "name=person value=x"),
}


@pytest.mark.parametrize("town", ["Zug", "Zürich & Co “1”"])
@pytest.mark.parametrize("shown", TAKEN.values(), ids=TAKEN)
async def test_a_text_that_is_no_option_is_sent_where_what_goes_out_holds_it(
    browser: Browser, movers: Movers, shown: str, town: str
) -> None:
    outcome, told = await move(browser, movers, shown, town=town)
    assert outcome.status is Status.COMPLETED, outcome.error
    if "method=get" not in shown:
        assert [town in str(sent) for sent in movers.posts] == [True]
    assert "none of its options: the field kept it, and it was sent" in told


REFUSED = {
    "cleared": (
        page("", button=BY_SCRIPT, how=on_leaving("town.value = ''"), facts=TEXT),
        "let go of 'Zug' and holds ''",
    ),
    "reset": (page("value=Bern", how=on_leaving("town.value = 'Bern'")), "let go of 'Zug' and holds 'Bern'"),
    "cleared late": (
        page(how=on_leaving("setTimeout(() => { town.value = ''; }, 250)")),
        "let go of 'Zug' and holds ''",
    ),
    "invalid": (page(how=on_leaving("town.setAttribute('aria-invalid', 'true')")), "none of its options"),
    "not valid": (page(how="town.oninput = () => town.setCustomValidity('no such town');"), "none of its options"),
    "found wrong by the server": (
        page(how=on_leaving("fetch('/late').then(() => town.setAttribute('aria-invalid', 'true'))")),
        "none of its options",
    ),
    "a hidden selection": (page("name=text", beside="<input type=hidden name=town>"), "none of its options"),
    "the selection alone is sent": (
        page("", button=BY_SCRIPT, facts=CHOSEN),
        "did not hold it and was held back: nothing was sent",
    ),
    "a part is sent": (
        page("", button=BY_SCRIPT, facts="{town: town.value + '?', person: 'Zug-'}"),
        "held back: nothing was sent",
    ),
    "the same text is another field's": (
        page(
            "",
            button=BY_SCRIPT,
            beside="<label>Country <input id=country value=Zug></label>",
            facts="{town: chosen, country: country.value}",
        ),
        "held back: nothing was sent",
    ),
    "nothing is sent": (
        page(
            "", button=BY_SCRIPT, how="document.querySelector('button').onclick = () => { out.textContent = 'Kept'; };"
        ),
        "no request was seen to hold that",
    ),
}


@pytest.mark.parametrize(
    ("kind", "again"),
    [*((kind, False) for kind in REFUSED), *((kind, True) for kind in REFUSED if "let go" in REFUSED[kind][1])],
)
async def test_a_text_that_the_field_or_the_page_does_not_take_is_not_sent(
    browser: Browser, movers: Movers, kind: str, again: bool
) -> None:
    shown, why = REFUSED[kind]
    outcome, told = await move(browser, movers, shown, again=again)
    assert movers.posts == []
    assert outcome.status in NOT_SENT and outcome.error is not None and why in outcome.error.message
    assert why in told


async def test_a_text_that_options_begin_with_is_a_choice_that_was_not_made(browser: Browser, movers: Movers) -> None:
    outcome, told = await move(browser, movers, page(), town="Ber")
    assert movers.posts == [] and outcome.status in NOT_SENT
    assert "there are: Bergen, Berlin, Bern" in told


async def test_a_field_that_chooses_for_itself_when_it_is_left_sends_nothing_else(
    browser: Browser, movers: Movers
) -> None:
    takes_first = on_leaving("if (list.firstChild) { town.value = chosen = list.firstChild.textContent; show([]); }")
    outcome, told = await move(browser, movers, page(how=takes_first), town="Ber", again=True)
    assert movers.posts == [] and outcome.status in NOT_SENT
    assert "let go of 'Ber' and holds 'Bergen'" in told
