"""Lookup of elements for notations without ids: by an element's place and its words."""

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

    def by_words(ui_element: UiElement, test: Callable[[Element, UiElement], bool]) -> str | None:
        if not (ui_element.label or ui_element.placeholder):
            return None
        matching = [element for element in elements if test(element, ui_element)]
        return matching[0].bid if len(matching) == 1 else None

    def resolve(ui_element: UiElement) -> str | None:
        return (
            by_words(ui_element, _same)
            or located.get(ui_element.css_selector)
            or located.get(ui_element.xpath)
            or by_words(ui_element, _alike)
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


def _same(element: Element, ui_element: UiElement) -> bool:
    placeholder = element.attributes.get("placeholder", "")
    return (
        (not ui_element.label or element.name == ui_element.label)
        and (not ui_element.placeholder or placeholder == ui_element.placeholder)
        and (
            not ui_element.type
            or ui_element.type.lower() in (element.role, element.tag, element.attributes.get("type", ""))
        )
    )


def _alike(element: Element, ui_element: UiElement) -> bool:
    """The same but for case and type."""
    placeholder = element.attributes.get("placeholder", "")
    return (not ui_element.label or element.name.lower() == ui_element.label.lower()) and (
        not ui_element.placeholder or placeholder.lower() == ui_element.placeholder.lower()
    )
