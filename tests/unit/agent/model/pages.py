"""Pages made by hand, and a context that shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from shoal.agent.browser import Landing, ObserveOptions
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.recorded import page_as_json
from shoal.agent.policies.policy import SessionState
from shoal.agent.spec import JobSpec
from shoal.agent.types import Action, ActionResult, Effect, Element, Observation

URL = "https://shop.example/list"


def el(bid: str, tag: str, name: str = "", *children: Element, **more: Any) -> Element:
    return Element(bid, tag, name=name, clickable=bid != "", children=children, **more)


def link(bid: str, name: str, href: str) -> Element:
    return el(bid, "a", name, role="link", attributes={"href": href})


def text(words: str) -> Element:
    return Element("", "#text", text=words)


def page(*children: Element, url: str = URL, **more: Any) -> Observation:
    return Observation(url=url, title="A page", elements=Element("", "body", children=children), **more)


def plain(root: Element) -> str:
    """The simplest rendering that shows ids: what these tests give a policy."""

    def lines(element: Element) -> list[str]:
        words = " ".join(word for word in (element.name, element.text) if word)
        own = f"[{element.bid}] {element.tag} {words}" if element.bid else words
        return [own, *(line for child in element.children for line in lines(child))]

    return "\n".join(line for line in lines(root) if line.strip())


def tree_of(html: str, url: str) -> dict[str, Any]:
    """Return what a browser's script answers for a page."""
    answer: dict[str, Any] = json.loads(page_as_json(page_from_html(html.encode(), url, charset="utf-8")))
    return answer


@dataclass
class FakePage:
    """A context that shows pages by their address."""

    pages: dict[str, Observation]
    at: str = URL
    on_click: Callable[[FakePage, Action], None] | None = None
    observed: list[ObserveOptions] = field(default_factory=list)
    acted: list[Action] = field(default_factory=list)
    said: Any = None  # what it answers to scripts
    html: str = ""  # what its tree is made of; "": it has none
    cut: str = ""  # what a test keeps of a collection that ended before its list

    @property
    def url(self) -> str:
        return self.at

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        self.observed.append(options)
        return self.pages[self.at]

    async def goto(self, url: str, *, timeout_s: float | None = None) -> Landing:
        self.at = url
        return Landing(url, 200 if url in self.pages else 404)

    async def act(self, action: Action) -> ActionResult:
        self.acted.append(action)
        if self.on_click:
            self.on_click(self, action)
        return ActionResult(action, effect=Effect())

    async def read(self, script: str, arg: Any = None) -> Any:
        if script == SCRIPT:
            return tree_of(self.html, self.at)
        return self.said

    async def settle(self, *, quiet_s: float = 0.3, budget_s: float = 5.0) -> bool:
        return True


def scene_of(shown: Observation | FakePage, spec: JobSpec | None = None, **more: Any) -> SessionState:
    spec = spec or JobSpec(url=URL, goal="Buy a lamp")
    context = shown if isinstance(shown, FakePage) else FakePage({shown.url: shown}, at=shown.url)
    return SessionState(**{"spec": spec, "loop": spec.loop, "item": None, "page": context, **more})
