"""Configuration of a browser worker; made from the settings at the entry point, and sent to the worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from shoal.agent.browser import ContextOptions
from shoal.agent.models.settings import ModelSettings
from shoal.agent.sessions.session_budget import SessionLimits
from shoal.services.addresses import Reach
from shoal.services.artifacts.options import ArtifactOptions
from shoal.services.tracing import TraceOptions


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """When a browser process is replaced. Everything long-lived has an end."""

    max_sessions: int = 1000  # contexts opened
    max_age_s: float = 3600.0
    max_rss_bytes: int = 3 * 1024**3  # memory of the process tree, what its processes share counted once
    page_bytes: int = 2 * 1024**3  # memory of one page's process; it is ended beyond that
    idle_s: float = 60.0  # a browser without sessions is closed after so long


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """One browser worker."""

    slots: int  # sessions at once
    artifacts_url: str  # where evidence goes
    artifacts: ArtifactOptions = ArtifactOptions()
    chromium: str | None = None  # path of the browser; None: found
    headless: bool = True  # False: with a window, for a person at this machine
    sandbox: Literal["auto", "on", "off"] = "auto"
    reach: Reach = Reach()  # what pages may reach
    user_agent: str = "Shoal"  # token that robots.txt is asked for
    limits: SessionLimits = SessionLimits()
    context: ContextOptions = ContextOptions()  # the operator's limits of one context
    session_bytes: int = 4 * 1024**3  # that the pages of one session may take in
    browser: BrowserLimits = BrowserLimits()
    model: ModelSettings | None = None  # None: no model is configured
    help_url: str = ""  # the gateway's address, where sessions ask people; "": nowhere
    help_token: str = field(default="", repr=False)  # what they show there
    secrets_dir: str | None = None  # TENANT/NAME, a file per secret
    temp_dir: str | None = None  # for profiles and downloads; removed with the worker
    traces: TraceOptions | None = None  # None: no traces
    log_level: str = "info"
    log_format: Literal["auto", "console", "json"] = "auto"
