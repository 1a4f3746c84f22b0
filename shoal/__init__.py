"""Shoal for Python programs.

* `Client` and `AsyncClient` talk to a gateway: submit jobs, follow them, read their results.
* `run` and `run_async` run one job on this machine, on a cluster of its own.
* `open_page` is the agent as a library: one page in one browser, without Ray, database or gateway.

Names are loaded when they are first used, so that `import shoal` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.agent.browser import ObserveOptions as ObserveOptions
    from shoal.agent.errors import AgentError as AgentError
    from shoal.agent.spec import ArtifactsSpec as ArtifactsSpec
    from shoal.agent.spec import BrowserSpec as BrowserSpec
    from shoal.agent.spec import BudgetSpec as BudgetSpec
    from shoal.agent.spec import ExtractSpec as ExtractSpec
    from shoal.agent.spec import HelpSpec as HelpSpec
    from shoal.agent.spec import JobSpec as JobSpec
    from shoal.agent.spec import LoopFrom as LoopFrom
    from shoal.agent.spec import LoopSpec as LoopSpec
    from shoal.agent.spec import PolitenessSpec as PolitenessSpec
    from shoal.agent.spec import ProxySpec as ProxySpec
    from shoal.agent.spec import SecretUse as SecretUse
    from shoal.agent.spec import Viewport as Viewport
    from shoal.agent.spec import WebhookSpec as WebhookSpec
    from shoal.agent.status import Status as Status
    from shoal.agent.types import Action as Action
    from shoal.agent.types import ActionResult as ActionResult
    from shoal.agent.types import Observation as Observation
    from shoal.agent.types import Outcome as Outcome
    from shoal.agent.types import Record as Record
    from shoal.client import AsyncClient as AsyncClient
    from shoal.embedded import RunResult as RunResult
    from shoal.embedded import run as run
    from shoal.embedded import run_async as run_async
    from shoal.errors import AnswerUnreadable as AnswerUnreadable
    from shoal.errors import ApiError as ApiError
    from shoal.errors import AuthenticationFailed as AuthenticationFailed
    from shoal.errors import BadRequest as BadRequest
    from shoal.errors import Conflict as Conflict
    from shoal.errors import Fault as Fault
    from shoal.errors import GatewayUnreachable as GatewayUnreachable
    from shoal.errors import Gone as Gone
    from shoal.errors import JobFailed as JobFailed
    from shoal.errors import KeyReused as KeyReused
    from shoal.errors import MissingDependency as MissingDependency
    from shoal.errors import NotFound as NotFound
    from shoal.errors import PermissionDenied as PermissionDenied
    from shoal.errors import RateLimited as RateLimited
    from shoal.errors import ServerUnavailable as ServerUnavailable
    from shoal.errors import ShoalError as ShoalError
    from shoal.fields import fields_schema as fields_schema
    from shoal.page import Page as Page
    from shoal.page import SyncPage as SyncPage
    from shoal.page import open_page as open_page
    from shoal.page import open_page_sync as open_page_sync
    from shoal.records import Artifact as Artifact
    from shoal.records import Basis as Basis
    from shoal.records import BatchLine as BatchLine
    from shoal.records import Counts as Counts
    from shoal.records import Event as Event
    from shoal.records import Failure as Failure
    from shoal.records import Item as Item
    from shoal.records import Job as Job
    from shoal.records import JobSummary as JobSummary
    from shoal.records import LineError as LineError
    from shoal.records import Question as Question
    from shoal.records import RecordChange as RecordChange
    from shoal.records import Result as Result
    from shoal.records import Session as Session
    from shoal.records import SessionDetail as SessionDetail
    from shoal.records import Source as Source
    from shoal.records import SubmittedJob as SubmittedJob
    from shoal.records import Usage as Usage
    from shoal.sync import Client as Client
    from shoal.trial import Trial as Trial
    from shoal.trial import TriedCandidate as TriedCandidate
    from shoal.trial import TriedEstimate as TriedEstimate
    from shoal.trial import TriedField as TriedField
    from shoal.trial import TriedItem as TriedItem
    from shoal.trial import TriedItems as TriedItems
    from shoal.trial import TriedList as TriedList
    from shoal.trial import TriedRecord as TriedRecord
    from shoal.version_trial import TriedAction as TriedAction
    from shoal.version_trial import TriedChannel as TriedChannel
    from shoal.version_trial import TriedCount as TriedCount
    from shoal.version_trial import TriedFieldOfVersion as TriedFieldOfVersion
    from shoal.version_trial import TriedMiss as TriedMiss
    from shoal.version_trial import TriedPage as TriedPage
    from shoal.version_trial import VersionTrial as VersionTrial

PLACES: dict[str, tuple[str, ...]] = {
    "shoal.agent.browser": ("ObserveOptions",),
    "shoal.agent.errors": ("AgentError",),
    "shoal.agent.spec": (
        *("ArtifactsSpec", "BrowserSpec", "BudgetSpec", "ExtractSpec", "HelpSpec", "JobSpec", "LoopFrom", "LoopSpec"),
        *("PolitenessSpec", "ProxySpec", "SecretUse", "Viewport", "WebhookSpec"),
    ),
    "shoal.agent.status": ("Status",),
    "shoal.agent.types": ("Action", "ActionResult", "Observation", "Outcome", "Record"),
    "shoal.client": ("AsyncClient",),
    "shoal.embedded": ("RunResult", "run", "run_async"),
    "shoal.errors": (
        *("AnswerUnreadable", "ApiError", "AuthenticationFailed", "BadRequest", "Conflict", "Fault"),
        *("GatewayUnreachable", "Gone"),
        *("JobFailed", "KeyReused", "MissingDependency", "NotFound", "PermissionDenied", "RateLimited"),
        *("ServerUnavailable", "ShoalError"),
    ),
    "shoal.fields": ("fields_schema",),
    "shoal.page": ("Page", "SyncPage", "open_page", "open_page_sync"),
    "shoal.records": (
        *("Artifact", "BatchLine", "Basis", "Counts", "Event", "Failure", "Item", "Job", "JobSummary", "LineError"),
        *("Question", "RecordChange", "Result", "Session", "SessionDetail", "Source", "SubmittedJob", "Usage"),
    ),
    "shoal.sync": ("Client",),
    "shoal.trial": (
        *(
            "Trial",
            "TriedCandidate",
            "TriedEstimate",
            "TriedField",
            "TriedItem",
            "TriedItems",
            "TriedList",
            "TriedRecord",
        ),
    ),
    "shoal.version_trial": (
        *("TriedAction", "TriedChannel", "TriedCount", "TriedFieldOfVersion", "TriedMiss", "TriedPage"),
        "VersionTrial",
    ),
}
"""Modules of the public names. A unit test holds it to the imports above, which type checkers read."""

_MODULES = {name: module for module, names in PLACES.items() for name in names}

__all__ = sorted(_MODULES)  # the list is made from the table above


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
