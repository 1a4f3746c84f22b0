"""The services and objects that a session is lent while it runs: a browser, a policy, and ways to keep things. The
worker supplies it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from shoal.agent.artifact_kind import ArtifactKind
from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.hooks import Upload
from shoal.agent.policies.policy import Policy, SessionState
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.sessions.attended.attendance import Attendance
from shoal.agent.sessions.attended.human_help import Helper
from shoal.agent.sessions.login import Logins
from shoal.agent.sessions.session_budget import SessionBudget, SessionLimits
from shoal.agent.support.json_value import Json
from shoal.agent.types import ArtifactRef, Checkpoint, FieldGlossary, LoopItem

if TYPE_CHECKING:  # a cluster's process reads no documents
    from shoal.agent.documents.sitemaps.reader import SitemapReader


class NavigationGuard(Protocol):
    """Asked before every page that a session opens by address."""

    async def __call__(self, url: str) -> None:
        """Returns when the page may be opened now (it may wait, to be gentle).

        Raises:
            RobotsForbidden, AddressForbidden.
        """
        ...


class ArtifactSink(Protocol):
    """The store for evidence."""

    async def keep(self, kind: ArtifactKind, data: bytes, content_type: str) -> ArtifactRef:
        """Stores `data` durably and says under which id.

        Raises:
            ArtifactsAway: the store does not take it, after retries.
        """
        ...

    async def fetch(self, key: str) -> Upload:
        """An artifact of the same tenant, to be given to a page.

        Raises:
            ActionRefused: it is another tenant's, or there is none under this key.
        """
        ...


class Glossaries(Protocol):
    """Field glossaries of schemas, each asked of a model once."""

    async def of(self, state: SessionState, schema: dict[str, Json]) -> tuple[FieldGlossary, str | None]:
        """The glossary of a record's schema, with prompt and reply where a model was asked for it now.

        Where there is none, the glossary says why.
        """
        ...


class Journal(Protocol):
    """The receiver of a session's checkpoints and loop items."""

    async def checkpoint(self, checkpoint: Checkpoint, *, durable: bool) -> None:
        """Hands the checkpoint on; with `durable`, returns only when the store has it.

        Raises:
            Canceled: the store says that this session is somebody else's by now.
        """
        ...

    async def items(self, at: int, items: Sequence[LoopItem]) -> None:
        """Hands on items of the loop that the session is about to open, those from index `at` on.

        Returns when the store has them, so that no process holds a long loop in memory. They are nothing before the
        session ends with a fan-out that counts them (`FanOut.later`).

        Raises:
            Canceled: the store says that this session is somebody else's by now.
        """
        ...


class Secrets(Protocol):
    """Resolves references to stored secrets, as late as possible."""

    def resolve(self, value: object, url: str) -> object:
        """`value` with every `secret:NAME` string replaced, for use on the page at `url`.

        Raises:
            SecretRefused: unknown, not granted to this job, or not for this domain.
        """
        ...

    def granted(self) -> Mapping[str, str]:
        """The values of all stored secrets that the job grants, by reference: none is shown."""
        ...


@dataclass(frozen=True, slots=True)
class SessionDependencies:
    """All that one session uses of its surroundings."""

    browser: Browser
    policy: Policy
    navigation_guard: NavigationGuard
    artifact_sink: ArtifactSink
    journal: Journal
    secrets: Secrets
    limits: SessionLimits = SessionLimits()
    context: ContextOptions = ContextOptions()  # the operator's limits; the job's own wishes are put into it
    glossaries: Glossaries | None = None  # for what rules read; None: no model is asked for any
    helper: Helper | None = None  # answers questions of this job; None: the job has no helper
    page: Context | None = None  # open already, where the session begins, and not closed by it; None: it opens its own
    hidden: Redactor | None = None  # values of secrets that were filled into `page` before; None: none were
    logins: Logins = field(default_factory=Logins)  # that were renewed for sessions of the same worker
    attendance: Attendance | None = None  # the people who look at the page, and may take it over; None: no person can
    sitemaps: SitemapReader | None = None  # reads the job's sitemap; None: nothing does
    budget: SessionBudget | None = None  # of time and tokens, where somebody may change it; None: as the work says
