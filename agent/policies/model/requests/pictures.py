"""The images that stand beside a page's text: the window, the same with marks, the page screen by screen."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image as Pictures

from shoal.agent.models.model import Image
from shoal.agent.observe.tree import walk_elements
from shoal.agent.policies.model.requests.messages import content_type
from shoal.agent.policies.policy import SessionState
from shoal.agent.types import Element, Observation, Step

_JPEG_QUALITY = 80
_FIELDS = frozenset({"input", "textarea", "select"})
_STYLED = frozenset({"greyed", "highlighted"})
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


def shows_more(seen: Observation, steps: Sequence[Step]) -> bool:
    """Return whether a picture of the window says something that the page's text does not.

    So it is with a canvas, a chart, a picture without words, and a control that has no name or is called by its shape
    or colour alone; with one that a style greys out or highlights; and where the last action failed, or changed nothing
    that could be told.
    """
    last = steps[-1].results[-1:] if steps else ()
    if seen.drawn or seen.last_error or any(result.effect.unchanged or result.error for result in last):
        return True
    return any(element.in_viewport and _is_seen_only(element) for element in walk_elements(seen.elements))


def _is_seen_only(element: Element) -> bool:
    """Return whether the text says less of an element than its looks."""
    if element.states & _STYLED:
        return True
    nameless = not (element.name or element.text or element.children)
    return element.clickable and element.tag not in _FIELDS and (nameless or _is_look(element.name))


def _is_look(name: str) -> bool:
    return name.startswith("icon of ") or name.removeprefix("dark ").partition(" ")[0] in _COLOURS


async def pictures_of(
    state: SessionState, seen: Observation, steps: Sequence[Step] = (), *, points: bool
) -> PromptImages:
    """Return what the job wants a model to see of the page `seen`:
    one picture of the window, where it says more than text.

    Args:
        steps: of the running mini goal.
        points: whether the reply may name places on the picture.
    """
    spec = state.spec
    asked = points or spec.sight.marks or spec.sight.page_parts > 1 or spec.grounding in ("mark", "coordinates")
    if spec.sight.pictures == "auto" and not asked and not shows_more(seen, steps):
        return PromptImages()
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
