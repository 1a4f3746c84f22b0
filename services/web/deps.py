"""The dependencies of a gateway: all of them by value, so that two can live in one process."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shoal.agent.status import FINAL
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.metrics import Metrics
from shoal.services.names import HostNames
from shoal.services.schedules.firing import RunState
from shoal.services.store.restarts import Restarts
from shoal.services.store.store import Store
from shoal.services.web.http.problems import STATUS
from shoal.services.web.http.trusted_proxy import TrustedProxy
from shoal.services.web.live.shares import MOST_STREAMS, TenantShares
from shoal.services.web.openid.config import OpenId
from shoal.services.web.specs.specs import SpecRules
from shoal.services.webhooks.mail import MailServer


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of tokens, in a currency; None: not said."""

    prompt: float | None = None  # of a million tokens of prompts, cached ones included
    completion: float | None = None  # of a million tokens of replies
    currency: str = ""

    def money(self, prompt_tokens: int, completion_tokens: int) -> str:
        """Return what so many tokens cost, in words;
        "" where one of the prices is not said: half a cost would be wrong.
        """
        if self.prompt is None or self.completion is None:
            return ""
        amount = (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6
        digits = 2 if amount >= 1 or not amount else 6 if amount < 0.01 else 4
        return f"{amount:,.{digits}f} {self.currency}".strip()


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """The values that the operator sets."""

    auth: bool = True  # API keys are needed; False only on loopback, see `auth.needs_keys`
    rules: SpecRules = SpecRules()  # what jobs may ask for
    body_limit: int = 1 << 20  # bytes of one request's body, and of one line of a batch
    batch_limit: int = 64 << 20  # bytes of one batch
    requests_per_s: float = 0.0  # of one tenant, at all gateways of the store; 0: no limit
    tenant_queued: int = 0  # sessions of one tenant that may wait before submissions are refused; 0: no limit
    tenant_quotas: Mapping[str, int] = field(default_factory=dict)  # the same of single tenants
    artifact_url_s: int = 300  # how long a signed artifact URL holds
    dashboard: bool = True  # the operators' web pages at /
    cookie_secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    """Signs the dashboard's logins. Gateways behind one address need the same one; by default each start makes its
    own, which ends all logins."""
    webhook_secrets: tuple[str, ...] = field(default=(), repr=False)
    """The cluster's own, newest first; none: the one that the store keeps."""
    help_token: str = field(default="", repr=False)
    """The token that workers show that ask people; none: no worker does."""
    live_url: str = ""  # this gateway, as workers reach it that show sessions to people; "": none can
    proxy: TrustedProxy = TrustedProxy()  # what lets people in to the pages, beside keys
    openid: OpenId = OpenId()  # where people may log in, beside keys and that
    sink_dirs: tuple[Path, ...] = ()  # where jobs may write to on this machine, with `{tenant}` for the tenant
    secrets_dir: Path | None = None  # stored secrets, where workers read them; None: this gateway has none
    mail: MailServer | None = None  # which hands in letters to people; None: none is sent
    public_url: str = ""  # of the dashboard, for links in what people are told; "": not known
    prices: Prices = Prices()  # what the pages tell costs by
    restarts: Restarts = Restarts()
    announced: Path | None = None  # the file by which the command line finds this cluster; None: it is not looked for
    secure_cookies: bool = False  # cookies over https only; for a public address that is https


def new_metrics() -> Metrics:
    """A gateway's metrics. Its labelled counters begin at 0, so that no first event is hidden from `increase`."""
    metrics = Metrics()
    for how in ("single", "batch", "try", "schedule"):
        metrics.jobs_submitted.labels(how)
    for outcome in (*RunState, *sorted(FINAL), "late", "degraded"):
        metrics.schedule_runs.labels(str(outcome))
    for error in STATUS:
        metrics.submissions_refused.labels(error.code)
    return metrics


@dataclass(frozen=True, slots=True)
class GatewayDeps:
    """The services and values that the gateway works with. It closes none of them."""

    store: Store
    artifacts: ArtifactStore
    options: GatewayOptions = GatewayOptions()
    names: HostNames = field(default_factory=HostNames)
    metrics: Metrics = field(default_factory=new_metrics)
    streams: TenantShares = field(
        default_factory=lambda: TenantShares(MOST_STREAMS, "event streams open at this gateway")
    )

    async def webhook_secrets(self) -> tuple[str, ...]:
        """The cluster's secrets, from which those of its tenants are derived; newest first."""
        return self.options.webhook_secrets or (await self.store.webhook_secret(secrets.token_hex(32)),)
