"""The images that stand beside a page's text: the window, the same with marks, the page screen by screen."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from PIL import Image as Pictures

from shoal.agent.models.model import Image
from shoal.agent.observe.tree import walk_elements
from shoal.agent.policies.model.requests.messages import content_type
from shoal.agent.policies.policy import SessionState
from shoal.agent.types import Observation, Step

_JPEG_QUALITY = 80
_FIELDS = frozenset({"input", "textarea", "select"})
_FIELD_ROLES = frozenset({"textbox", "combobox", "searchbox", "spinbutton", "listbox"})
"""Roles of fields, which are known by what they hold."""
_COLOURS = frozenset(
    ["black", "grey", "white", "red", "orange", "brown", "yellow", "green", "cyan", "blue", "purple", "pink"]
)
_WINDOW = "what the window shows"
_MARKED = "the same with the elements' numbers painted in"

# A page may be as tall as it likes; what is cut off it is bounded by the job's `page_parts`.
Pictures.MAX_IMAGE_PIXELS = 500_000_000


@dataclass(frozen=True, slots=True)
class PromptImages:
    """Images with what each shows, in order."""

    images: tuple[Image, ...] = ()
    words: tuple[str, ...] = ()


def _shows_more(state: SessionState, seen: Observation, steps: Sequence[Step] | None) -> bool:
    """Return whether a picture of the window says something that neither the page's text nor an earlier step does.

    So it is with a canvas, a chart, a picture without words, and a control that has no name or is called by its shape
    or colour alone; and where the last action failed, or changed nothing that could be told. Of such a control the
    thoughts of an earlier step of the mini goal say what its picture showed.

    Args:
        steps: of the running mini goal; None: one is planned.
    """
    last = steps[-1].results[-1:] if steps else ()
    if seen.drawn or seen.last_error or any(result.effect.unchanged or result.error for result in last):
        return True
    done = len(steps or ())
    return any(state.pictured.get(key, done) >= done for key in _seen_only(seen))


def _seen_only(seen: Observation) -> Iterator[tuple[str, str, str]]:
    """The elements in the window of which the text says less than their looks, by what they are known again by."""
    path = urlsplit(seen.url).path
    for element in walk_elements(seen.elements):
        nameless = not (element.name or element.text or element.children)
        is_field = element.tag in _FIELDS or element.role in _FIELD_ROLES
        if element.in_viewport and element.clickable and not is_field and (nameless or _is_look(element.name)):
            yield path, element.bid, element.name


def _is_look(name: str) -> bool:
    return name.startswith("icon of ") or name.removeprefix("dark ").partition(" ")[0] in _COLOURS


async def pictures_of(
    state: SessionState, seen: Observation, steps: Sequence[Step] | None = None, *, points: bool
) -> PromptImages:
    """Return what the job wants a model to see of the page `seen`:
    one picture of the window, where it says more than text.

    Args:
        steps: of the running mini goal; None: one is planned.
        points: whether the reply may name places on the picture.
    """
    spec = state.spec
    if steps is None:
        state.pictured.clear()
    asked = points or spec.sight.marks or spec.sight.page_parts > 1 or spec.grounding in ("mark", "coordinates")
    if spec.sight.pictures == "auto" and not asked and not _shows_more(state, seen, steps):
        return PromptImages()
    state.pictured.update(dict.fromkeys(_seen_only(seen), len(steps or ())))
    plain, marked = seen.screenshot, seen.marked_screenshot
    pictures: list[tuple[bytes, str]] = []
    if spec.sight.marks:
        pictures += [(data, words) for data, words in ((plain, _WINDOW), (marked, _MARKED)) if data]
    elif data := (marked if spec.grounding == "mark" else None) or plain:
        pictures.append((data, _WINDOW))
    if spec.sight.page_parts > 1 and pictures:
        shot = await state.page.screenshot(full_page=True)
        height = seen.viewport[1] or spec.browser.viewport.height
        parts = await asyncio.to_thread(cut, shot.data, height, spec.sight.page_parts)
        pictures += [(part, f"the whole page, screen {n} from its top") for n, part in enumerate(parts, 1)]
    return PromptImages(
        tuple(Image(data, content_type(data)) for data, _ in pictures), tuple(words for _, words in pictures)
    )


def cut(data: bytes, height: int, most: int) -> list[bytes]:
    """A picture in strips of `height` pixels from its top, at most `most` of them."""
    with Pictures.open(io.BytesIO(data)) as whole:
        strips = []
        for top in range(0, min(whole.height, most * height), height):
            strip = whole.crop((0, top, whole.width, min(top + height, whole.height)))
            written = io.BytesIO()
            strip.convert("RGB").save(written, "JPEG", quality=_JPEG_QUALITY)
            strips.append(written.getvalue())
        return strips
