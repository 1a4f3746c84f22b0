"""A page and what it shows, in one file."""

from __future__ import annotations

from shoal.agent.chromium.devtools.protocol import Readable


async def page_archive(tab: Readable) -> str:
    """The page as MHTML (RFC 2557): its frames, style sheets and pictures, and none of its scripts."""
    session = await tab.session()
    return str((await session.send("Page.captureSnapshot", {"format": "mhtml"}))["data"])
