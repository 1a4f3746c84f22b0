"""The parts of a worker."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Protocol

from shoal.agent.browser import ContextOptions
from shoal.agent.documents.context import DocumentReader
from shoal.agent.documents.fetching import DocumentClient
from shoal.agent.policies.policy import Policy
from shoal.agent.sessions.attended.attendance import Attendance
from shoal.agent.sessions.attended.human_help import Helper
from shoal.agent.sessions.dependencies import Glossaries
from shoal.agent.spec import JobSpec
from shoal.agent.worker_messages import LiveRequest, Work
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.browsers.network.navigation_guard import RateSlots, SiteNavigationGuard
from shoal.services.browsers.session_parts.browser_owner import BrowserOwner
from shoal.services.browsers.session_parts.field_glossaries import SharedGlossaries


class Parts(Protocol):
    """The parts of a worker; see `shoal.services.browsers.session_parts.real_parts` for the real ones."""

    owner: BrowserOwner
    artifacts: ArtifactStore

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        """The policy that decides for a session of this job; `leaf`: it has no loop to do.

        Raises:
            AgentError: the job names a policy that is not there.
        """
        ...

    def navigation_guard(self, work: Work, rate_slots: RateSlots) -> SiteNavigationGuard:
        """Return what is asked before this session opens a page by address; `rate_slots` says when it may."""
        ...

    async def context(self, work: Work, *, opened: bool = True) -> ContextOptions:
        """The operator's limits of this session's context, and, where it is opened, its way out."""
        ...

    def ended(self, work: Work) -> str:
        """The session is over: takes its way out back. Says in words what it was cut off for, "" for nothing."""
        ...

    @property
    def document_reader(self) -> DocumentReader:
        """Return what reads documents."""
        ...

    def documents(self, tenant: str) -> DocumentClient | None:
        """Return what fetches documents for this tenant's sessions; None: nothing does."""
        ...

    def link(self, attendance: Attendance, request: LiveRequest) -> Coroutine[None, None, None]:
        """Runs until people look at this session no more, or it ends."""
        ...

    def glossaries(self, work: Work, shared: SharedGlossaries) -> Glossaries | None:
        """Return what asks a model once for the field glossary of this job's schema; None: nothing does."""
        ...

    def helper(self, work: Work) -> Helper | None:
        """Return what answers this session's questions; None: the job has no helper."""
        ...

    async def close(self) -> None: ...
