"""Ways to send something by a page, each with its page; and a small cluster in one process that goes them.

`python -m tests.security.repeats STORE_URL` runs it until it is killed. With `rules` behind that, the rules decide.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.chromium.process.launch import launch
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.observe.tree import walk_elements
from shoal.agent.policies.policy import Policy, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, Element, Step
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.session_parts.browser_owner import BrowserOwner
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.store.store import Store, open_store
from tests.worker_world import FakeParts, PlainPolicy

SLOTS = 6
LEASE_S = 4.0
_PATIENT = ContextOptions(action_timeout_s=100.0, navigation_timeout_s=100.0)
"""The site holds its answers until it is sure that all have come."""

_SEND = 'x=new XMLHttpRequest();x.open("POST","/sent"+location.search,false);x.send()'
_FORM = (
    "<form action=/sent method=post><input type=hidden name=way value=WAY>"
    "<input aria-label=It><button>B</button></form>"
)

Does = Callable[[Element, Element], Sequence[Action]]
"""Actions on the elements of a page that are called "It" and "Other"."""


@dataclass(frozen=True)
class Way:
    """One way to send something."""

    body: str  # of its page; SEND sends
    does: Does


def _on_it(name: str, **args: Json) -> Does:
    return lambda it, _: [Action(name, {"bid": it.bid, **args})]


def _at_it(*names: str) -> Does:
    return lambda it, _: [Action(name, dict(zip("xy", _middle(it), strict=True))) for name in names]


def _middle(element: Element) -> tuple[float, float]:
    assert element.box is not None
    return element.box.x + element.box.width / 2, element.box.y + element.box.height / 2


def _dragged(it: Element, other: Element) -> Sequence[Action]:
    (from_x, from_y), (to_x, to_y) = _middle(it), _middle(other)
    return [Action("mouse_drag_and_drop", {"from_x": from_x, "from_y": from_y, "to_x": to_x, "to_y": to_y})]


def _focused(name: str, **args: Json) -> Does:
    return lambda it, _: [Action("focus", {"bid": it.bid}), Action(name, args)]


def _left(it: Element, _: Element) -> Sequence[Action]:
    return [
        Action("focus", {"bid": it.bid}),
        Action("keyboard_type", {"text": "Ada"}),
        Action("keyboard_press", {"key_comb": "Tab"}),
    ]


_BUTTON = "<button onclick='SEND'>It</button>"
_BOX = "<input type=checkbox aria-label=It onchange='SEND'>"
_DRAG = (
    "<div draggable=true ondragstart='event.dataTransfer.setData(\"text\",1)' role=button>It</div>"
    "<div style='height:90px' ondragover='event.preventDefault()' ondrop='SEND' role=button>Other</div>"
)
WAYS: Mapping[str, Way] = {
    "a link with a listener": Way("<a href=/plain onclick='SEND;return false'>It</a>", _on_it("click")),
    "a div": Way("<div onclick='SEND'>It</div>", _on_it("click")),
    "a listener on the document": Way(
        "<a href=/plain>It</a><script>document.onclick=e=>{e.preventDefault();SEND}</script>", _on_it("click")
    ),
    "a menu item": Way("<div role=menuitem tabindex=0 onmousedown='SEND'>It</div>", _on_it("click")),
    "a button": Way(_FORM.replace("<input aria-label=It>", "").replace(">B<", ">It<"), _on_it("click")),
    "a double click": Way("<div ondblclick='SEND'>It</div>", _on_it("dblclick")),
    "a download": Way("<a href=/plain download onclick='SEND'>It</a>", _on_it("download")),
    "a click at a point": Way(_BUTTON, _at_it("mouse_click")),
    "a double click at a point": Way("<button ondblclick='SEND'>It</button>", _at_it("mouse_dblclick")),
    "a mouse button": Way("<button onmouseup='SEND'>It</button>", _at_it("mouse_down", "mouse_up")),
    "Space on a button": Way(_BUTTON, _on_it("press", key_comb="Space")),
    "Enter on what has the focus": Way(_BUTTON, _focused("keyboard_press", key_comb="Enter")),
    "a key that goes down": Way(_BUTTON, _focused("keyboard_down", key="Enter")),
    "Enter in a field": Way(_FORM, _on_it("press", key_comb="Enter")),
    "a typed newline": Way(_FORM, _focused("keyboard_type", text="Ada\n")),
    "a field that sends": Way("<input aria-label=It oninput='SEND'>", _on_it("fill", value="Ada")),
    "a pasted text": Way("<input aria-label=It oninput='SEND'>", _focused("keyboard_insert_text", text="Ada")),
    "a field that is left": Way("<input aria-label=It onchange='SEND'><input aria-label=Other>", _left),
    "a field that is emptied": Way("<input aria-label=It value=x oninput='SEND'>", _on_it("clear")),
    "a field that gets the focus": Way("<input aria-label=It onfocus='SEND'>", _on_it("focus")),
    "a check box": Way(_BOX, _on_it("check")),
    "a check box that is unchecked": Way(_BOX.replace("=It ", "=It checked "), _on_it("uncheck")),
    "a select": Way(
        "<select aria-label=It onchange='SEND'><option>a<option>b</select>", _on_it("select_option", options="b")
    ),
    "a file": Way("<input type=file aria-label=It onchange='SEND'>", _on_it("upload_file", file=__file__)),
    "drag and drop": Way(_DRAG, lambda it, other: [Action("drag_and_drop", {"from_bid": it.bid, "to_bid": other.bid})]),
    "drag and drop at points": Way(_DRAG, _dragged),
}


def page(way: str) -> str:
    """The page of a way, as HTML."""
    return f"<title>{way}</title>" + WAYS[way].body.replace("SEND", _SEND).replace("WAY", f"'{way}'")


class OneWay(PlainPolicy):
    """The root loops over the pages; each item does once what the way of its page is."""

    async def plan(self, state: SessionState) -> Plan:
        if state.loop is not None and state.children is None:
            return Plan(plan="each", task_type="loop", loop_values=state.loop.values, is_loop_value_link=True)
        if state.item is not None and not state.history:
            return Plan(plan="send it", task_type="navigate")
        return Plan(thoughts="done", user_goal_achieved=True)

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        if steps:
            return StepDecision("sent", (Action("complete"),))
        seen = await state.observe()
        named = {_name(element): element for element in walk_elements(seen.elements) if element.bid}
        return StepDecision("send", tuple(WAYS[seen.title].does(named["It"], named.get("Other", named["It"]))))


def _name(element: Element) -> str:
    return (element.name or element.text or " ".join(child.text for child in element.children)).strip()


class ChromiumParts(FakeParts):
    """A real browser, and a policy that goes one way."""

    def __post_init__(self) -> None:
        async def start() -> Browser:
            return await launch()

        self.owner = BrowserOwner(start, self.config.browser)

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return OneWay()


class RulesParts(ChromiumParts):
    """A real browser, and the rules policy."""

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return RulesPolicy()


@asynccontextmanager
async def cluster(store_url: str, *, rules: bool = False) -> AsyncIterator[Store]:
    """A store, a dispatcher and a worker with a Chromium."""
    parts = RulesParts if rules else ChromiumParts
    config = WorkerConfig(slots=SLOTS, artifacts_url="memory:", context=_PATIENT)

    async def make(name: str) -> Worker:
        return Worker(name, config, parts([], lambda: None, config))  # type: ignore[arg-type, return-value]

    store = await open_store(store_url)
    dispatcher = Dispatcher(store, LocalPool(make, SLOTS), DispatchConfig(lease_s=LEASE_S, drain_s=1.0), seed=1)
    try:
        await dispatcher.start()
        yield store
    finally:
        await dispatcher.stop()
        await store.close()


async def _until_killed(store_url: str, rules: bool) -> None:
    async with cluster(store_url, rules=rules):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_until_killed(sys.argv[1], "rules" in sys.argv[2:]))
