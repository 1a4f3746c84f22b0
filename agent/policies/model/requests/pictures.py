"""The images that stand beside a page's text: the window, the same with marks, the page screen by screen."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass

from PIL import Image as Pictures

from shoal.agent.models.model import Image
from shoal.agent.policies.model.requests.messages import content_type
from shoal.agent.policies.policy import SessionState
from shoal.agent.types import Observation

_JPEG_QUALITY = 80
_WINDOW = "what the window shows"
_MARKED = "the same with the elements' numbers painted in"

# A page may be as tall as it likes; what is cut off it is bounded by the job's `page_parts`.
Pictures.MAX_IMAGE_PIXELS = 500_000_000


@dataclass(frozen=True, slots=True)
class PromptImages:
    """Images with what each shows, in order."""

    images: tuple[Image, ...] = ()
    words: tuple[str, ...] = ()


async def pictures_of(state: SessionState, seen: Observation) -> PromptImages:
    """What the job wants a model to see of the page `seen`: by default one picture of the window."""
    spec = state.spec
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
