"""All notations under one roof, for the command line and the gym."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, get_args

from shoal.agent.actions.dialects import automa, browsergym, seeact, stepjson, webaction, webvoyager
from shoal.agent.actions.dialects.ui_element import UiElement, describer, resolver
from shoal.agent.actions.registry import primitives_of
from shoal.agent.browser import Context
from shoal.agent.observe.letters import lettered
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action, Element

Dialect = Literal["browsergym", "webvoyager", "seeact", "stepjson", "webaction", "automa"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


def read_reply(dialect: Dialect, text: str, page: Element, *, sets: Iterable[str] | None = None) -> list[Action]:
    """The actions of a reply in `dialect`, for the observed elements `page`.

    Letters stand for the page's clickable elements in document order. With `sets` only their actions are allowed.

    Raises:
        ReplyUnparsable: it is not in that notation, or holds an action that is not allowed.
    """
    readers: Mapping[Dialect, Callable[[], list[Action]]] = {
        "browsergym": lambda: browsergym.parse(text, sets=sets),
        "webvoyager": lambda: webvoyager.parse(text),
        "seeact": lambda: seeact.parse(text, choices(page)),
        "stepjson": lambda: stepjson.parse(text),
        "webaction": lambda: webaction.parse(text, resolver(page)),
        "automa": lambda: automa.parse(text, resolver(page)),
    }
    return _allowed(readers[dialect](), sets)


def _allowed(actions: list[Action], sets: Iterable[str] | None) -> list[Action]:
    names = None if sets is None else {primitive.name for primitive in primitives_of(sets)}
    for number, action in enumerate(actions, 1):
        if names is not None and action.name not in names:
            raise browsergym.not_allowed(action.name, f"action {number}")
    return actions


async def read_reply_on(
    dialect: Dialect, text: str, page: Element, context: Context, *, sets: Iterable[str] | None = None
) -> list[Action]:
    """The same as `read_reply`, where the page itself can be asked: elements are found by their selectors as well.

    Raises:
        ReplyUnparsable: it is not in that notation.
    """
    if dialect not in ("webaction", "automa"):
        return read_reply(dialect, text, page, sets=sets)
    parse = webaction.parse if dialect == "webaction" else automa.parse
    named: list[UiElement] = []

    def note(element: UiElement) -> str:
        named.append(element)
        return "0"

    parse(text, note)
    selectors = [selector for element in named for selector in (element.css_selector, element.xpath) if selector]
    bids = dict(zip(selectors, await context.locate(selectors), strict=True)) if selectors else {}
    resolved = resolver(page, {selector: bid for selector, bid in bids.items() if bid is not None})
    return _allowed(parse(text, resolved), sets)


async def write_reply_on(dialect: Dialect, actions: Iterable[Action], page: Element, context: Context) -> str:
    """The same as `write_reply`, with selectors that the page itself gives for its elements.

    Raises:
        ActionInvalid: it cannot express one of them.
    """
    listed = list(actions)
    if dialect not in ("webaction", "automa"):
        return write_reply(dialect, listed, page)
    bids = dict.fromkeys(str(action.args["bid"]) for action in listed if action.args.get("bid"))
    selectors_by_bid = {bid: await context.selectors(bid) for bid in bids}
    describe = describer(page, {bid: selectors for bid, selectors in selectors_by_bid.items() if selectors is not None})
    return webaction.format(listed, describe) if dialect == "webaction" else automa.format(listed, describe)


def write_reply(dialect: Dialect, actions: Iterable[Action], page: Element) -> str:
    """The actions in `dialect`.

    Raises:
        ActionInvalid: it cannot express one of them.
    """
    listed = list(actions)
    writers: Mapping[Dialect, Callable[[], str]] = {
        "browsergym": lambda: browsergym.format(listed),
        "webvoyager": lambda: webvoyager.format(listed),
        "seeact": lambda: seeact.format(listed, choices(page)),
        "stepjson": lambda: stepjson.format(listed),
        "webaction": lambda: webaction.format(listed, describer(page)),
        "automa": lambda: automa.format(listed, describer(page)),
    }
    return writers[dialect]()


def choices(page: Element) -> dict[str, str]:
    """Element ids by letter."""
    return {letter: element.bid for letter, element in lettered(clickable_elements(page)).items()}
