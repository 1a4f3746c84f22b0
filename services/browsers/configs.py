"""From the settings to what a browser worker has to know, and who works like one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from shoal.agent.browser import ContextOptions
from shoal.agent.models.settings import ModelSettings, Points
from shoal.agent.sessions.session_budget import SessionLimits
from shoal.services.addresses import Reach
from shoal.services.browsers.config import BrowserLimits, WorkerConfig
from shoal.services.errors import BadSetting
from shoal.services.machine import own_networks
from shoal.services.secrets.folder import TENANT
from shoal.services.settings import OF_TENANT, Settings
from shoal.services.tracing import TraceOptions

_MIB = 1024 * 1024

_COUNTS_THOUSANDTHS = re.compile(r"qwen-?3-?vl", re.IGNORECASE)
"""Names of models that were trained to point in thousandths of a picture."""


def worker_config(settings: Settings, temp_dir: Path | None = None) -> WorkerConfig:
    """Return what each browser worker has to know."""
    return WorkerConfig(
        slots=settings.slots_per_worker,
        artifacts_url=settings.artifacts_url,
        artifacts=settings.artifact_options(),
        chromium=str(settings.chromium) if settings.chromium else None,
        sandbox=settings.sandbox,
        reach=reach(settings),
        limits=SessionLimits(session_s=settings.session_timeout_s),
        context=ContextOptions(
            action_timeout_s=settings.action_timeout_s,
            navigation_timeout_s=settings.navigation_timeout_s,
            max_download_bytes=settings.download_limit_mib * _MIB,
            max_downloads=settings.download_count,
            max_downloaded_bytes=settings.download_total_mib * _MIB,
            upload_dirs=tuple(str(folder) for folder in settings.upload_dirs),
            allow_python=settings.allow_python,
            search_url=settings.search_url or None,
        ),
        session_bytes=settings.session_traffic_mib * _MIB,
        browser=BrowserLimits(
            max_sessions=settings.browser_max_sessions,
            max_age_s=settings.browser_max_minutes * 60,
            max_rss_bytes=settings.browser_max_rss_mib * _MIB,
            page_bytes=settings.page_max_rss_mib * _MIB,
            idle_s=settings.browser_idle_s,
        ),
        model=model_settings(settings),
        help_url=settings.help_url,
        help_token=settings.help_token.get_secret_value(),
        secrets_dir=str(settings.secrets_dir),
        temp_dir=str(temp_dir) if temp_dir else None,
        traces=trace_options(settings),
        log_level=settings.log_level,
        log_format=settings.log_format,
    )


def of_tenant(context: ContextOptions, tenant: str) -> ContextOptions:
    """The options of a session of `tenant`: of folders that each tenant has of its own, it has its own."""
    if context.upload_dirs is None:
        return context
    named = tenant if TENANT.match(tenant) else ""
    folders = (folder.replace(OF_TENANT, named) for folder in context.upload_dirs if named or OF_TENANT not in folder)
    return replace(context, upload_dirs=tuple(folders))


def trace_options(settings: Settings) -> TraceOptions | None:
    """Return where traces go; None when nowhere."""
    return TraceOptions(settings.traces_url, settings.traces_share) if settings.traces_url else None


def model_settings(settings: Settings) -> ModelSettings | None:
    """Return how the model server is reached; None when none is configured."""
    if not settings.model_url:
        return None
    if not settings.model:
        raise BadSetting("SHOAL_MODEL_URL is set, but SHOAL_MODEL, the name of the model there, is not")
    return ModelSettings(
        base_urls=tuple(url.strip() for url in settings.model_url.split(",")),
        model=settings.model,
        api_key=settings.model_api_key.get_secret_value(),
        timeout_s=settings.model_timeout_s,
        patience_s=settings.model_patience_s,
        max_connections=settings.model_connections,
        images=settings.model_images,
        image_tokens=settings.model_image_tokens,
        image_grid=settings.model_image_grid,
        points=_points(settings),
        max_tokens=settings.model_max_tokens,
        token_limit_field=settings.model_token_limit_field,
        temperature=settings.model_temperature,
        extra_body=settings.model_extra_body,
        structured=settings.model_structured,
    )


def _points(settings: Settings) -> Points:
    """Return what the model counts in where it points at a picture."""
    if settings.model_points != "auto":
        return settings.model_points
    return "relative" if _COUNTS_THOUSANDTHS.search(settings.model) else "pixels"


def reach(settings: Settings) -> Reach:
    """Return what browsers may reach; of this installation's machines, those that are known here."""
    return Reach(settings.allow_private, settings.allow_hosts).with_own([*settings.refuse_networks, *own_networks()])
