"""Evidence that a session keeps for learning: what its policy does and reads."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence

from shoal.agent.artifact_kind import ArtifactKind
from shoal.agent.browser import FetchedJson
from shoal.agent.errors import AgentError, ArtifactsAway
from shoal.agent.policies.policy import SessionState
from shoal.agent.spec import ExtractSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, ActionResult, Record
from shoal.agent.workflows.learning.evidence import (
    KIND,
    SNAPSHOT,
    EvidenceBook,
    NotedBefore,
    read_messages,
)
from shoal.agent.workflows.learning.origin import Sources
from shoal.agent.workflows.learning.page_sample import look_at
from shoal.agent.workflows.script_answer import NoScriptAnswer

Keep = Callable[[ArtifactKind, bytes, str], Awaitable[str]]
"""Stores an artifact (kind, data, content type) and says its id."""
_COMPRESSED = "application/zlib"
_FAST = 1
"""Of nine levels: the others make a page a tenth smaller, and take three times as long."""


class LearningEvidence:
    """The evidence of one session, and how it reaches the artifact store.

    Args:
        state: of the session.
        keep: where artifacts go.
        teaches: whether what happens now teaches something: a replay teaches nothing new.
        exact: only places that state the very value are kept. A model may spell it its own way.
    """

    def __init__(self, state: SessionState, keep: Keep, teaches: Callable[[], bool], *, exact: bool = False) -> None:
        self._state = state
        self._keep = keep
        self._teaches = teaches
        self._book = EvidenceBook(state.item, exact=exact)
        self._step: tuple[int, str | None] = (0, None)

    @property
    def seconds(self) -> float:
        """Return what keeping took so far."""
        return self._book.seconds

    def begin(self, step: int, screenshot: str | None) -> None:
        """A step of a task begins.

        Args:
            step: its index in the task.
            screenshot: artifact id of the page before it, where the job keeps one.
        """
        self._step = (step, screenshot)

    async def before(self, action: Action) -> NotedBefore | None:
        """Return what is noted of an action that is about to run;
        its values are still references where they are secret.
        """
        if not self._teaches():
            return None
        state = self._state
        earlier = [record.value for record in state.records if isinstance(record.value, dict)]
        sources = Sources(
            data=state.spec.data,
            item=state.item.value if state.item else "",
            earlier=earlier,
            goal=state.spec.goal or "",
        )
        return await self._book.before(state.page, action, sources)

    def after(self, result: ActionResult, noted: NotedBefore | None) -> None:
        """Notes how the action went. `result` holds references instead of secrets."""
        if noted is not None:
            step, screenshot = self._step
            self._book.after(result, noted, screenshot=screenshot, task=len(self._state.history), step=step)

    async def read(self, records: Sequence[Record], extract: ExtractSpec | None) -> None:
        """Notes the page that `records` were read from, and keeps it as it is now.

        Of a page with several records the page itself is kept, and nothing is learned from it.
        """
        if not self._teaches() or not records:
            return
        state = self._state
        schema: Mapping[str, Json] | None = extract.record_schema if extract is not None else None
        several = len(records) > 1 or (extract is not None and extract.many)
        began = time.monotonic()
        try:
            look = await look_at(state.page)
            fetched = () if several else await self._fetched()
        except (AgentError, NoScriptAnswer) as error:
            self._book.lost.append(f"page {state.page.url}: {error}")
            return
        finally:
            self._book.seconds += time.monotonic() - began
        snapshot = ""
        if html := state.hidden.redacted_text(look.html):
            snapshot = await self._store(SNAPSHOT, await asyncio.to_thread(_packed, html))
        if several:
            return
        locale = state.spec.browser.locale or ""
        await self._book.read(state.page, records, schema, look=look, fetched=fetched, locale=locale, snapshot=snapshot)

    async def _fetched(self) -> Sequence[FetchedJson]:
        """The JSON that the page's scripts fetched, without what holds a secret of the job."""
        redact = self._state.hidden.redacted_text
        answers = await self._state.page.fetched_json()
        return tuple(answer for answer in answers if redact(answer.url + answer.text) == answer.url + answer.text)

    async def keep(self) -> None:
        """Stores the evidence of a session that is completed, as one artifact."""
        if not self._book.actions and not self._book.pages:
            return
        messages: tuple[str, ...] = ()
        try:
            messages = await read_messages(self._state.page) if self._book.actions else ()
        except AgentError as error:
            self._book.lost.append(f"the last page: {error.message}")
        state = self._state
        book = self._book.book(state.page.url, messages, state.spec.data, state.hidden.redacted_text)
        await self._store(KIND, await asyncio.to_thread(book.packed))

    async def _store(self, kind: ArtifactKind, data: bytes) -> str:
        """The artifact's id; "" where the store is away. What was done is done: only its evidence is lost."""
        try:
            return await self._keep(kind, data, _COMPRESSED)
        except ArtifactsAway as away:
            self._book.lost.append(f"{kind}: {away.message}")
            return ""


def _packed(html: str) -> bytes:
    """A page as its artifact holds it."""
    return zlib.compress(html.encode("utf-8", "replace"), _FAST)
