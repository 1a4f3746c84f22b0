"""All notations under one roof, for the command line and the gym."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, get_args

from agent.actions.dialects import automa, browsergym, seeact, stepjson, webaction, webvoyager
from agent.actions.dialects.ui_element import describer, resolver
from agent.observe.ranking import lettered
from agent.observe.tree import clickable_elements
from agent.types import Action, Element

Dialect = Literal["browsergym", "webvoyager", "seeact", "stepjson", "webaction", "automa"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


def read_reply(dialect: Dialect, text: str, page: Element) -> list[Action]:
    """The actions of a reply in `dialect`, for the observed elements `page`.

    Letters stand for the page's clickable elements in document order.

    Raises:
        ReplyUnparsable: it is not in that notation.
    """
    readers: Mapping[Dialect, Callable[[], list[Action]]] = {
        "browsergym": lambda: browsergym.parse(text),
        "webvoyager": lambda: webvoyager.parse(text),
        "seeact": lambda: seeact.parse(text, choices(page)),
        "stepjson": lambda: stepjson.parse(text),
        "webaction": lambda: webaction.parse(text, resolver(page)),
        "automa": lambda: automa.parse(text, resolver(page)),
    }
    return readers[dialect]()


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
