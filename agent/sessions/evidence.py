"""The artifacts of one session: pictures and texts of its pages, prompts, replies and downloads."""

from __future__ import annotations

import asyncio
import gzip
import mimetypes
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from shoal.agent.artifact_kind import ArtifactKind
from shoal.agent.browser import ObserveOptions, Shot
from shoal.agent.errors import AgentError, ArtifactsAway
from shoal.agent.observe.renderings import compact
from shoal.agent.policies.policy import SessionState
from shoal.agent.sessions.dependencies import ArtifactSink
from shoal.agent.sessions.field_places import field_places, with_places
from shoal.agent.sessions.lazy_context import LazyContext
from shoal.agent.sessions.page_errors import MOST_ERRORS, redacted_errors
from shoal.agent.sessions.traces.page_archive import redacted_archive
from shoal.agent.sessions.traces.recording import redacted_recording
from shoal.agent.sessions.traces.requests import har
from shoal.agent.sessions.traces.trace import redacted_trace
from shoal.agent.spec import ArtifactsSpec
from shoal.agent.status import Status
from shoal.agent.support.file_names import safe_file_name
from shoal.agent.types import ArtifactRef, PageErrors, Record

_LAST_PAGE_CHARS = 40_000
_TRACES_S = 60.0
"""Seconds that a session may last longer for its trace, or its recording, to be looked through and stored."""
_FAST = 1
"""Of nine levels: the others make a document a tenth smaller, and take three times as long."""
_ASK_S = 2.0
"""Seconds that a session that failed may last longer for the errors of its page."""
_DID_WELL = frozenset({Status.COMPLETED, Status.WAITING, Status.CANCELED})
"""Ends that errors of a page do not have to explain."""
DOWNLOAD_TEXT: Final = "download_text"
"""The artifact that holds the text of a PDF that was downloaded, as far as an observation carries it."""
_TEXTS = frozenset({"application/json", "application/xml", "application/x-ndjson", "image/svg+xml"})
"""Types of downloads that are text, beside `text/`."""
_WRITTEN_HERE = frozenset({"prompt", "reply", "page", DOWNLOAD_TEXT})
"""Artifacts that hold what the session was given, beside what pages say."""


class Evidence:
    """Keeps what shows later how a session went.

    Args:
        sink: where artifacts go.
        state: of the session; its secrets are taken out of what is kept as text.
        page: the session's page.
    """

    def __init__(self, sink: ArtifactSink, state: SessionState, page: LazyContext) -> None:
        self._sink = sink
        self._state = state
        self._page = page
        self.kept: list[ArtifactRef] = []
        self.last_screenshot: str | None = None
        self._errors_left = MOST_ERRORS
        self._before: tuple[str, Shot | None] | None = None  # text and picture of the page that sent last

    async def keep(self, kind: ArtifactKind, data: bytes, content_type: str, *, name: str = "") -> str:
        """Stores one artifact; its id.

        Args:
            name: how a site calls it, where it is a file of the site's.
        """
        if kind in _WRITTEN_HERE:
            data = self._redacted_text(data)
        elif (kind == "download" and content_type in _TEXTS) or content_type.startswith("text/"):
            data = await asyncio.to_thread(self._redacted_file, data)
        ref = await self._sink.keep(kind, data, content_type)
        if name:
            hide = self._state.hidden.redacted_text
            ref = replace(ref, name=hide(safe_file_name(hide(name))))
        self.kept.append(ref)
        return ref.id

    def _redacted_text(self, data: bytes) -> bytes:
        return self._state.hidden.redacted_text(data.decode("utf-8", "replace")).encode("utf-8", "replace")

    def _redacted_file(self, data: bytes) -> bytes:
        """A file of a site with references for secrets, and otherwise byte for byte; UTF-16 has none that is found."""
        text = data.decode("utf-8", "surrogateescape")
        redacted = self._state.hidden.text(text)
        return data if redacted == text else redacted.encode("utf-8", "surrogateescape")

    async def keep_prompt(self, prompt: str | None) -> str | None:
        """Prompt and reply of a decision; the artifact's id, None where no model was asked."""
        return None if prompt is None else await self.keep("prompt", prompt.encode(), "application/json")

    async def keep_downloads(self) -> None:
        """Files that the page gave since the last call become artifacts; what they were is in the next observation."""
        for download in await self._page.downloads():
            data = await asyncio.to_thread(Path(download.path).read_bytes)
            content_type = mimetypes.guess_type(download.filename)[0] or "application/octet-stream"
            kept = await self.keep("download", data, content_type, name=download.filename)
            self._page.artifacts[download.path] = kept
            if download.text and data.startswith(b"%PDF"):
                text = download.text.encode("utf-8", "replace")
                await self.keep(DOWNLOAD_TEXT, text, "text/plain; charset=utf-8", name=f"{download.filename}.txt")

    async def page_errors(self, *, ask: bool = False) -> PageErrors:
        """Return what the session's pages told of errors since the last call, as it may be stored;
        `ask` as pages have it.
        """
        came = await self._page.page_errors(ask=ask)
        redacted = (
            redacted_errors(came, self._state.hidden.redacted_text, self._errors_left) if came != PageErrors() else came
        )
        self._errors_left -= len(redacted.told)
        return redacted

    async def last_page_errors(self, status: Status) -> PageErrors:
        """Those that no step has. A page that was only read is asked for them where its session did not do well."""
        if status not in _DID_WELL and self._page.opened:
            try:
                async with asyncio.timeout(_ASK_S):
                    return await self.page_errors(ask=True)
            except (AgentError, TimeoutError):
                pass  # a page that is gone tells nothing more: what it told before is had without asking
        return await self.page_errors()

    async def keep_last_page(self) -> None:
        """Text and picture of the page where a model says that it is done: what its judge goes by."""
        if self._state.spec.artifacts.screenshots != "all" or not self._page.opened:
            return
        seen = await self._state.observe(ObserveOptions(max_chars=_LAST_PAGE_CHARS))
        await self.keep("page", f"{seen.url}\n{compact(seen.elements)}".encode("utf-8", "replace"), "text/plain")
        await self.photograph()

    async def note_page(self, *, has_picture: bool) -> None:
        """Text and picture of the page, before something is sent from it: evidence where its answer leaves doubt."""
        if self._state.spec.artifacts.screenshots != "none":
            picture = None if has_picture else await self._page.screenshot()
            self._before = (await self._page_text("before it was sent"), picture)

    async def keep_both_pages(self, shows: bool) -> None:
        """The page before something was sent, and the page now; the pictures of the latter, and of steps, are kept."""
        if self._before is None:
            return
        text, picture = self._before
        if picture is not None:
            await self.keep("screenshot", picture.data, picture.content_type)
        await self.keep("page", text.encode("utf-8", "replace"), "text/plain")
        if shows:
            now = await self._page_text("after it was sent")
            await self.keep("page", now.encode("utf-8", "replace"), "text/plain")

    async def _page_text(self, when: str) -> str:
        text = await self._page.read("() => document.body ? document.body.innerText : ''")
        return f"{self._page.url}, {when}:\n{str(text)[:_LAST_PAGE_CHARS]}"

    async def photograph(self) -> str:
        """A picture of the page as it is now; the artifact's id."""
        shot = await self._page.screenshot()
        self.last_screenshot = await self.keep("screenshot", shot.data, shot.content_type)
        return self.last_screenshot

    async def keep_source(self, records: Sequence[Record], *, unmoved: bool) -> Sequence[Record]:
        """Return what shows where `records` are from:
        a picture of the page, its HTML or its archive, as the job wants it.

        Beside the HTML or the archive of a page that a browser opened there is a picture, too.

        Gives the records with the picture and the places of their fields on it, where the page is `unmoved`: nothing
        was done on it, and no other was opened, since the first of them was read.
        """
        artifacts = self._state.spec.artifacts
        if artifacts.evidence == "document":
            await self._keep_document()
            if artifacts.screenshots == "all" and self._page.document is None:
                # A schedule shows people what a page of a degraded run looked like, and before.
                await self.photograph()
            return records
        if artifacts.evidence == "mhtml":
            archive = await asyncio.to_thread(
                redacted_archive, await self._page.archive(), self._state.hidden.redacted_text
            )
            await self.keep("mhtml", archive, "multipart/related")
        if artifacts.screenshots == "all":
            named = any(source.where for record in records for source in record.sources.values())
            places = await field_places(self._page, records) if named and unmoved else None
            picture = await self.photograph()
            if places is not None:
                return with_places(records, places, await field_places(self._page, records), picture)
        return records

    async def _keep_document(self) -> None:
        raw = self._page.document
        if raw is not None:
            html = await asyncio.to_thread(self._redacted_file, raw.body)
        else:
            text = self._state.hidden.redacted_text(
                str(await self._page.read("() => document.documentElement.outerHTML"))
            )
            html = text.encode("utf-8", "replace")
        await self.keep("document", await asyncio.to_thread(gzip.compress, html, _FAST), "application/gzip")

    async def keep_traces(self) -> str:
        """Return what was recorded of the browser, as the job wants it.
        Says why that is not there; "" where nothing lacks.
        """
        wants = self._state.spec.artifacts
        if not wants.traced:
            return ""
        try:
            async with asyncio.timeout(_TRACES_S):
                await self._keep_traces(wants)
        except TimeoutError:
            return f"no trace: it was not ready within {_TRACES_S:g} s"
        except (AgentError, OSError, zipfile.BadZipFile) as lost:
            return f"no trace: {lost}"
        return ""

    async def _keep_traces(self, wants: ArtifactsSpec) -> None:
        with tempfile.TemporaryDirectory(prefix="shoal-trace-") as folder:
            path = f"{folder}/trace.zip"
            if not await self._page.end_trace(path):
                return
            redacted = await asyncio.to_thread(redacted_trace, path, self._state.hidden.redacted_text)
        if wants.trace:
            await self.keep("trace", redacted.trace, "application/zip")
        if wants.har:
            await self.keep("har", har(redacted.requests), "application/json")

    async def keep_recording(self) -> str:
        """The DOM events of the session's pages, where the job wants them. Says why they are not there, else ""."""
        if not self._state.spec.artifacts.recording:
            return ""
        try:
            async with asyncio.timeout(_TRACES_S):
                raw = await self._page.end_recording()
                redacted = (
                    await asyncio.to_thread(redacted_recording, raw, self._state.hidden.redacted_text) if raw else None
                )
                if redacted is not None:
                    await self.keep("recording", redacted, "application/gzip")
        except TimeoutError:
            return f"no recording: it was not ready within {_TRACES_S:g} s"
        except AgentError as lost:
            return f"no recording: {lost}"
        return ""

    async def keep_transcript(self, error: AgentError) -> None:
        """Keep what was asked and answered, when a model's reply is what the session failed on."""
        transcript = error.details.get("transcript")
        if isinstance(transcript, str):
            try:
                await self.keep("reply", transcript.encode(), "application/json")
            except ArtifactsAway as lost:
                error.add_note(f"no transcript: {lost}")
