"""How notations without ids name an element: by where it is and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shoal.agent.observe.tree import clickable_elements, find_element
from shoal.agent.types import Element


@dataclass(frozen=True, slots=True)
class UiElement:
    """An element as a workflow remembers it; what is not known is empty."""

    xpath: str = ""
    css_selector: str = ""
    type: str = ""  # role or tag: button, link, textbox, ...
    label: str = ""  # accessible name
    placeholder: str = ""


Resolve = Callable[[UiElement], str | None]
"""Gives the id of the element on the page, None when it is not there or not told apart from others."""

Describe = Callable[[str], UiElement | None]
"""Gives what is known of the element with an id, None when there is none."""


def resolver(root: Element, located: Mapping[str, str] = {}) -> Resolve:
    """Finds elements in an observed page by label, placeholder and type, else by selector, else by almost the label.

    Args:
        located: ids by selector, which only the page itself can tell (`Context.locate`).
    """
    elements = clickable_elements(root)

    def by_words(wanted: UiElement, test: Callable[[Element, UiElement], bool]) -> str | None:
        if not (wanted.label or wanted.placeholder):
            return None
        found = [element for element in elements if test(element, wanted)]
        return found[0].bid if len(found) == 1 else None

    def resolve(wanted: UiElement) -> str | None:
        return (
            by_words(wanted, _same)
            or located.get(wanted.css_selector)
            or located.get(wanted.xpath)
            or by_words(wanted, _alike)
        )

    return resolve


def describer(root: Element, selectors: Mapping[str, tuple[str, str]] = {}) -> Describe:
    """Describes elements of an observed page; `selectors` are their CSS selectors and XPaths, where those are known."""

    def describe(bid: str) -> UiElement | None:
        element = find_element(root, bid)
        if element is None:
            return None
        placeholder = element.attributes.get("placeholder", "")
        css, xpath = selectors.get(bid, ("", ""))
        return UiElement(xpath, css, type=element.role or element.tag, label=element.name, placeholder=placeholder)

    return describe


def _same(element: Element, wanted: UiElement) -> bool:
    placeholder = element.attributes.get("placeholder", "")
    return (
        (not wanted.label or element.name == wanted.label)
        and (not wanted.placeholder or placeholder == wanted.placeholder)
        and (not wanted.type or wanted.type.lower() in (element.role, element.tag, element.attributes.get("type", "")))
    )


def _alike(element: Element, wanted: UiElement) -> bool:
    """The same but for case and type."""
    placeholder = element.attributes.get("placeholder", "")
    return (not wanted.label or element.name.lower() == wanted.label.lower()) and (
        not wanted.placeholder or placeholder.lower() == wanted.placeholder.lower()
    )
