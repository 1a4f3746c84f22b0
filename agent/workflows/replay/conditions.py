"""A test that the condition of a node holds on the page now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shoal.agent.browser import Context
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.elements.finding import document_of, find
from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.reading.page_guards import fits_template

_TEXT_JS = "() => document.body ? document.body.innerText : ''"
_VALUE_JS = """({css, hosts}) => {
  const root = hosts.reduce((at, host) => at?.querySelector(host)?.shadowRoot, document), el = root?.querySelector(css);
  return el && 'value' in el ? String(el.value) : el && el.isContentEditable ? el.innerText : null;
}"""
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w-]*)\}")


async def condition_miss(
    page: Context, conditions: Sequence[Condition], values: Mapping[str, Json], *, where: str
) -> Divergence | None:
    """The first of `conditions` that does not hold, as a miss.

    Raises:
        BrowserError: the page could not be asked.
    """
    for condition in conditions:
        if not await _holds(page, condition, values, where):
            about = condition.value or (condition.target.name if condition.target else "")
            return Divergence(
                DivergenceReason.CONDITION, where, f"{condition.kind} {about!r} does not hold on {page.url}"
            )
    return None


async def _holds(page: Context, condition: Condition, values: Mapping[str, Json], where: str) -> bool:
    expected = _PLACEHOLDER.sub(lambda match: str(values.get(match.group(1), match.group())), condition.value)
    match condition.kind:
        case "url":
            return fits_template(page.url, expected)
        case "text" | "no_text":
            text = " ".join(str(await page.read(_TEXT_JS)).split()).lower()
            return (" ".join(expected.split()).lower() in text) == (condition.kind == "text")
    assert condition.target is not None, "the format asks for it"
    element = await find(page, condition.target, where=where, posted=True)
    if condition.kind in ("visible", "hidden"):
        return bool(element.bid) == (condition.kind == "visible")
    path = await page.element_path(element.bid) if element.bid else None
    document = await document_of(page, condition.target, where)
    if path is None or isinstance(document, Divergence):
        return False
    return bool(await document.read(_VALUE_JS, {"css": path.css, "hosts": list(path.hosts)}) == expected)
