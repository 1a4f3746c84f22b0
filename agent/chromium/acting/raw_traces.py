"""Traces in the making. They lie in the browser's own folder with all that pages held, until their session ends."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.faults import first_line
from shoal.agent.errors import BrowserError

MOST_RAW_BYTES = 400_000_000
"""Of one browser's traces on its disk: more than one session may keep, since sessions share this."""
_LOOK_S = 2.0
_STOP_S = 20.0
"""Seconds that Playwright may take to write a trace."""
_GIVE_UP_S = 5.0
_SHARED = ("resources", "screencast")
"""Folders that Playwright fills for all contexts of a browser together."""


@dataclass(slots=True)
class _Recording:
    name: str  # that its files begin with
    watch: asyncio.Task[None] | None = None
    lost: str = ""  # why it was given up


class RawTraces:
    """The traces that a browser's contexts record.

    Args:
        folder: where Playwright writes them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._recordings: dict[BrowserContext, _Recording] = {}

    async def begin(self, context: BrowserContext, options: ContextOptions) -> None:
        """Records from now on; sources of programs are not recorded."""
        recording = self._recordings[context] = _Recording(f"trace-{secrets.token_hex(8)}")
        await context.tracing.start(
            name=recording.name, screenshots=options.trace_pictures, snapshots=True, sources=False
        )
        recording.watch = asyncio.create_task(self._watch(context, recording))

    async def end(self, context: BrowserContext, path: str) -> bool:
        """As `Context.end_trace`."""
        recording = self._recordings.get(context)
        if recording is None:
            return False
        if recording.lost:
            raise BrowserError(recording.lost)
        try:
            async with asyncio.timeout(_STOP_S):
                await context.tracing.stop(path=path)
        except TimeoutError as error:
            raise BrowserError(f"the trace was not written within {_STOP_S:g} s") from error
        except PlaywrightError as error:
            raise BrowserError(f"the trace could not be written: {first_line(error)}") from error
        return True

    async def give_up(self, context: BrowserContext) -> None:
        """Stops what still records, before `context` is closed: otherwise Playwright writes on for a moment."""
        if context not in self._recordings:
            return
        with contextlib.suppress(PlaywrightError, TimeoutError):  # it is stopped already, or its browser is gone
            async with asyncio.timeout(_GIVE_UP_S):
                await context.tracing.stop()

    async def remove(self, context: BrowserContext) -> None:
        """Removes what was recorded of `context`, which is closed.

        What several contexts share is removed with the last of them.
        """
        recording = self._recordings.pop(context, None)
        if recording is None:
            return
        if recording.watch is not None:
            recording.watch.cancel()
        gone = _set_aside(self._folder, recording.name, () if self._recordings else _SHARED)
        await asyncio.to_thread(shutil.rmtree, gone, True)

    async def _watch(self, context: BrowserContext, recording: _Recording) -> None:
        """Gives a recording up when the browser's traces hold too much."""
        while True:
            if await asyncio.to_thread(_bytes, self._folder, recording.name) > MOST_RAW_BYTES:
                break
            await asyncio.sleep(_LOOK_S)
        recording.lost = f"it was given up, since this browser's traces have more than {MOST_RAW_BYTES:,} bytes"
        with contextlib.suppress(PlaywrightError):  # the context may close at this moment
            await context.tracing.stop()
        await asyncio.to_thread(shutil.rmtree, _set_aside(self._folder, recording.name), True)


def _set_aside(folder: Path, name: str, shared: Sequence[str] = ()) -> Path:
    """Renames what is to be removed, which is done at once: a recording that begins meanwhile has folders of its own.

    Gives the folder where it lies now.
    """
    gone = folder / f"gone-{secrets.token_hex(8)}"
    gone.mkdir(mode=0o700)
    for place in (*folder.glob(f"{name}*"), *(folder / place for place in shared)):
        with contextlib.suppress(FileNotFoundError):
            place.rename(gone / place.name)
    return gone


def _bytes(folder: Path, name: str) -> int:
    """Return what a recording and the folders that it shares hold on the disk."""
    files = [*folder.glob(f"{name}*"), *(file for shared in _SHARED for file in (folder / shared).glob("*"))]
    size = 0
    for file in files:
        with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
            size += file.stat().st_size
    return size
