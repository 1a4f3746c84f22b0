"""Fields of forms, and what takes their part."""

from __future__ import annotations

from lxml.html import HtmlElement

from shoal.agent.read.facts.texts import SKIPPED

CONTROL_TAGS = ("input", "select", "textarea")


def is_value(el: HtmlElement) -> bool:
    return el.tag in CONTROL_TAGS or el.get("role") == "combobox"


def combo_box(el: HtmlElement | None) -> HtmlElement | None:
    """The element where it is a combo box that a page makes of others: a label right before it is its own."""
    return el if el is not None and el.get("role") == "combobox" and el.tag not in CONTROL_TAGS else None


def is_within(el: HtmlElement, control: HtmlElement) -> bool:
    """True for a part of a control, as what shows its value."""
    return el is control or control in el.iterancestors()


def outside(label: HtmlElement, control: HtmlElement) -> str:
    """The text of a label without what its control says."""
    text = label.text or ""
    for child in label:
        if child is not control and isinstance(child.tag, str) and child.tag not in SKIPPED:
            text += " " + outside(child, control)
        text += child.tail or ""
    return text
