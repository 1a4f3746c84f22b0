"""Files that pages give, stored in a folder of the context."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playwright.async_api import Download as PlaywrightDownload
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import ContextOptions
from shoal.agent.errors import DownloadFailed, DownloadRefused
from shoal.agent.observe.documents import file_text
from shoal.agent.support.printable import readable
from shoal.agent.support.web_addresses import WEB, scheme_of
from shoal.agent.types import Download

_UNSAFE = re.compile(r"[^\w.\-() ]+")
_NAME_CHARS = 120


# Where files come from: the web, and what a page makes itself. Never from this machine.
_SOURCES = frozenset({*WEB, "blob", "data"})


class Downloads:
    """Saves each download under a name of its own; too large and endless ones are ended and reported."""

    def __init__(self, options: ContextOptions) -> None:
        self._own: Path | None = None
        self._options = options
        self._bytes = 0  # of those that came
        self._refused: Counter[str] = Counter()  # that were not waited for, by reason; not told yet
        self._running: dict[asyncio.Task[Download], PlaywrightDownload] = {}
        self._done: list[Download] = []
        self._reported = self._taken = 0  # how many of them were told, and taken: each reader gets all
        self._waited: set[asyncio.Task[Download]] = set()  # waited for once; a second wait would be in vain
        self._failures: list[str] = []
        self._urls: dict[str, str] = {}  # of downloads that DevTools told of, by its id
        self._too_large: dict[asyncio.Task[Any] | None, int] = {}  # ended for their size, with how much had come
        self._ending: set[asyncio.Task[None]] = set()
        self.count = 0  # begun so far
        self._begun = asyncio.Event()
        self._reading = asyncio.Lock()
        self.latest: asyncio.Task[Download] | None = None

    def on_download(self, download: PlaywrightDownload) -> None:
        """Playwright's event."""
        self.count += 1
        reason = self._refusal(download.url)
        if reason:
            self._refused[reason] += 1
        task = asyncio.ensure_future(self._refuse(download, reason) if reason else self._save(download))
        self._running[task] = download
        self.latest = task
        self._begun.set()
        task.add_done_callback(self._finished)

    def _refusal(self, url: str) -> str:
        """Why a download is not waited for, in words; "" when it is."""
        if scheme_of(url) not in _SOURCES:
            return f"{scheme_of(url) or 'other'}: addresses give no files, only http, https, blob and data do"
        if self.count > self._options.max_downloads:
            return f"a session may download {self._options.max_downloads:,} files"
        if self._bytes >= self._options.max_downloaded_bytes:
            return f"a session may download {self._options.max_downloaded_bytes:,} bytes in all"
        return ""

    async def _refuse(self, download: PlaywrightDownload, reason: str) -> Download:
        await _cancel(download)
        raise DownloadRefused(f"refused: {reason}", url=download.url)

    @property
    def _most(self) -> int:
        """Bytes that the next file may have."""
        return min(self._options.max_download_bytes, self._options.max_downloaded_bytes - self._bytes)

    def on_progress(self, event: Mapping[str, Any]) -> None:
        """DevTools' word on a download: one that is or becomes too large is ended at once, not when it is whole."""
        if event.get("state") != "inProgress":
            return
        size = max(event.get("receivedBytes", 0), event.get("totalBytes", 0))
        url = self._urls.get(event["guid"])
        if size <= self._most or url is None:
            return
        for task, download in self._running.items():
            if download.url == url and task not in self._too_large:
                self._too_large[task] = int(size)
                ending = asyncio.ensure_future(_cancel(download))
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)

    def on_begin(self, event: Mapping[str, Any]) -> None:
        """DevTools' word that a download begins, which gives its address to its later numbers."""
        self._urls[event["guid"]] = event["url"]

    async def keep(self, name: str, url: str, data: bytes) -> Download:
        """Stores what did not come over the network, such as a printed page, like a download.

        Raises:
            DownloadFailed: it is too large, or too much came before it.
        """
        if len(data) > self._most:
            raise self._excess(name, url, len(data))
        self._bytes += len(data)
        target = self._place(name)
        await asyncio.to_thread(target.write_bytes, data)
        text = await self._text_of(target)
        self._done.append(Download(name, url, len(data), text=text, path=str(target)))
        return self._done[-1]

    def _finished(self, task: asyncio.Task[Download]) -> None:
        self._running.pop(task, None)
        self._waited.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._done.append(task.result())
        elif isinstance(error, DownloadRefused):
            pass  # told by reason, however many there are
        elif isinstance(error, DownloadFailed):
            self._failures.append(f"download failed: {error.message}")
        else:
            raise error  # a bug of ours: the event loop's handler logs it

    def take_failures(self) -> tuple[str, ...]:
        """Return what did not come, since the last call."""
        refused = (f"{n:,} download{'s' * (n > 1)} refused: {why}" for why, n in self._refused.items())
        failures = (*self._failures, *refused)
        self._failures = []
        self._refused = Counter()
        return failures

    async def _save(self, download: PlaywrightDownload) -> Download:
        name = safe_name(download.suggested_filename)
        try:
            async with asyncio.timeout(self._options.download_timeout_s):
                source = await download.path()
        except TimeoutError as error:
            await _cancel(download)
            limit_s = self._options.download_timeout_s
            raise DownloadFailed(f"{name} did not end within {limit_s:g} s", url=download.url) from error
        except PlaywrightError as error:
            task = asyncio.current_task()
            if task in self._too_large:
                raise self._excess(name, download.url, self._too_large.pop(task)) from error
            raise DownloadFailed(f"{name} could not be downloaded: {error.message}", url=download.url) from error
        size = source.stat().st_size
        if size > self._most:
            await _cancel(download)
            raise self._excess(name, download.url, size)
        self._bytes += size
        target = self._place(name)
        await asyncio.to_thread(shutil.copyfile, source, target)
        text = await self._text_of(target)
        return Download(readable(download.suggested_filename), download.url, size, text=text, path=str(target))

    async def _text_of(self, file: Path) -> str:
        """Return what a file says; one after the other,
        so that many files take no more of the machine than one does.
        """
        async with self._reading:
            return await file_text(file)

    def _excess(self, name: str, url: str, size: int) -> DownloadFailed:
        return DownloadFailed(f"{name} has {size} bytes or more; {max(0, self._most)} are allowed", url=url)

    def _place(self, name: str) -> Path:
        folder = Path(given) if (given := self._options.downloads_dir) else self._own
        if folder is None:
            folder = self._own = Path(tempfile.mkdtemp(prefix="shoal-downloads-"))
        folder.mkdir(parents=True, exist_ok=True)
        target, number = folder / name, 1
        while not _reserved(target):
            number += 1
            target = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
        return target

    @property
    def idle(self) -> bool:
        """Return whether none is under way."""
        return not self._running

    async def begins(self, after: int, within_s: float) -> bool:
        """Return whether a download begins after `after` others;
        it may be announced a moment after its page was left.
        """
        try:
            async with asyncio.timeout(within_s):
                while self.count <= after:
                    self._begun.clear()
                    await self._begun.wait()
        except TimeoutError:
            return False
        return True

    async def last(self) -> Download:
        """The download that began last, once it has ended; one must have begun.

        Raises:
            DownloadFailed: it failed.
        """
        assert self.latest is not None
        return await asyncio.shield(self.latest)

    def new(self) -> tuple[Download, ...]:
        """Those that ended since the last call."""
        reported, self._reported = self._reported, len(self._done)
        return tuple(self._done[reported:])

    async def take(self, wait_s: float) -> tuple[Download, ...]:
        """Those that ended since the last call, told or not; waits up to `wait_s`, once, for one under way."""
        waiting = self._running.keys() - self._waited
        if waiting:
            self._waited |= waiting
            await asyncio.wait(waiting, timeout=wait_s)
        else:
            await asyncio.sleep(0)  # who asks again and again lets the browser's events in
        taken, self._taken = self._taken, len(self._done)
        return tuple(self._done[taken:])

    async def close(self) -> None:
        """Ends what is under way and removes the context's own folder."""
        for task in tuple(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(tuple(self._running), timeout=1)
        if self._own is not None:
            await asyncio.to_thread(shutil.rmtree, self._own, True)


def _reserved(target: Path) -> bool:
    """Takes the name, before anything else that comes at the same time does; False when it is taken."""
    try:
        target.open("x").close()
    except FileExistsError:
        return False
    return True


async def _cancel(download: PlaywrightDownload) -> None:
    with contextlib.suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(2):
            await download.cancel()
            await download.delete()


def safe_name(suggested: str) -> str:
    """A site's file name as one that is safe to write: no folders, no odd characters, not too long."""
    name = _UNSAFE.sub("_", Path(suggested.replace("\\", "/")).name).strip(". ")
    stem, dot, ending = name.rpartition(".")
    if dot and len(ending) <= 10:
        return f"{stem[: _NAME_CHARS - 11] or 'download'}.{ending}"
    return name[:_NAME_CHARS] or "download"
