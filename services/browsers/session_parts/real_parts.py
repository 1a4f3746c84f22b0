"""The real parts of a worker: Chromium behind the egress filter, the artifact store, robots.txt, the policies."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Literal

import httpx

from shoal.agent.browser import NO_BYPASS, Browser, ContextOptions
from shoal.agent.documents.fetching import DocumentClient
from shoal.agent.documents.reader_process import ReaderProcess
from shoal.agent.policies.choose import choose
from shoal.agent.policies.model import ModelPolicy, ModelPolicyOptions
from shoal.agent.policies.policy import Policy
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.sessions.attended.attendance import Attendance
from shoal.agent.sessions.attended.human_help import Helper
from shoal.agent.sessions.dependencies import Glossaries
from shoal.agent.spec import JobSpec
from shoal.agent.worker_messages import LiveRequest, Work
from shoal.services.answers import bounded_client
from shoal.services.artifacts.open import open_artifacts
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.configs import of_tenant
from shoal.services.browsers.live.link import LiveLink
from shoal.services.browsers.network.documents import Documents
from shoal.services.browsers.network.egress import CHROMIUM_FLAGS, EgressLimits, EgressProxy
from shoal.services.browsers.network.navigation_guard import PoliteNavigationGuard, RateSlots, SiteNavigationGuard
from shoal.services.browsers.network.proxy_listeners import ProxyListener
from shoal.services.browsers.network.robots import Robots
from shoal.services.browsers.session_parts.browser_owner import BrowserOwner
from shoal.services.browsers.session_parts.field_glossaries import FieldGlossaries, SharedGlossaries
from shoal.services.browsers.session_parts.measured_model import MeasuredModel
from shoal.services.browsers.session_parts.webhook_helper import ANSWER_BYTES, WebhookHelper
from shoal.services.browsers.worker import Worker
from shoal.services.demo.shop import is_demo
from shoal.services.machine import own_networks
from shoal.services.metrics_delta import MetricsDelta

_SANDBOX: dict[str, Literal["auto", "yes", "no"]] = {"auto": "auto", "on": "yes", "off": "no"}


class RealParts:
    """The parts that one worker owns besides its sessions; `close` ends all of them in reverse order."""

    def __init__(self, name: str, config: WorkerConfig) -> None:
        self._config = config
        self._stack = AsyncExitStack()
        self.metrics_delta = MetricsDelta()
        self._rules = RulesPolicy()
        self._model: ModelPolicy | None = None
        self.document_reader = ReaderProcess()
        self._listeners: dict[tuple[int, int], ProxyListener] = {}  # by session and fence
        self.artifacts = open_artifacts(config.artifacts_url, config.artifacts)
        self.owner = BrowserOwner(self._launch, config.browser, worker=name, metrics_delta=self.metrics_delta)

    async def open(self) -> None:
        """Starts what has to run before the first session; the browser starts with it."""
        self._stack.push_async_callback(self.artifacts.close)
        # Also where everything may be reached: names that jobs give are looked up there, each tenant's apart.
        egress = EgressProxy(self._config.reach.with_own(own_networks()), limits=self._limits())
        self._egress = await self._stack.enter_async_context(egress)
        self._documents = Documents(self._egress)
        self._stack.push_async_callback(self.document_reader.close)
        self._stack.push_async_callback(self._documents.close)
        self._robots = Robots(proxy=self._egress.url)
        self._stack.push_async_callback(self._robots.close)
        self._http = await self._stack.enter_async_context(bounded_client(ANSWER_BYTES, proxy=self._egress.url))
        # The gateway is this installation's own: it may be reached though pages may not.
        token = {"Authorization": f"Bearer {self._config.help_token}"}
        self._live_http = await self._stack.enter_async_context(httpx.AsyncClient(headers=token, trust_env=False))
        self._own_http = await self._stack.enter_async_context(bounded_client(ANSWER_BYTES, headers=token))
        if self._config.model is not None:
            # Only where there is a model: the client library's types are a quarter of what a worker has to import.
            server = import_module("shoal.agent.models.openai_compatible").OpenAICompatible(self._config.model)
            model = MeasuredModel(server, self.metrics_delta)
            self._stack.push_async_callback(model.close)
            self._model = ModelPolicy(model, self._rules, options=ModelPolicyOptions.of(self._config.model))
        self._stack.push_async_callback(self.owner.close)

    def _limits(self) -> EgressLimits:
        """Return what comes over one connection at most: in any case a file that may be downloaded."""
        usual = EgressLimits()
        most = max(usual.connection_bytes, 2 * self._config.context.max_download_bytes)
        return replace(usual, connection_bytes=most, session_bytes=self._config.session_bytes)

    @property
    def _filtered(self) -> bool:
        """Return whether there is anything that browsers may not reach."""
        return not self._config.reach.allow_private

    async def _launch(self) -> Browser:
        # Only here, and beside the event loop: Playwright takes 0.2 s of CPU and 10 MiB, and documents need no browser.
        module = await asyncio.to_thread(import_module, "shoal.agent.chromium.process.launch")
        browser: Browser = await module.launch(
            module.LaunchOptions(
                executable=self._config.chromium,
                sandbox=_SANDBOX[self._config.sandbox],
                headless=self._config.headless,
                proxy=self._egress.url if self._filtered else None,
                proxy_bypass=NO_BYPASS if self._filtered else None,
                temp_dir=self._config.temp_dir,
                args=CHROMIUM_FLAGS if self._filtered else (),
                fenced=True,
            )
        )
        return browser

    async def context(self, work: Work, *, opened: bool = True) -> ContextOptions:
        context = of_tenant(self._config.context, work.tenant)
        if not opened or not (self._filtered or is_demo(work.spec.url)):
            return context
        listener = self._listeners.get((work.session, work.fence))
        if listener is None:
            listener = self._listeners[work.session, work.fence] = await self._egress.lend(work.tenant, work.job)
        return replace(context, proxy=listener.url)

    def ended(self, work: Work) -> str:
        if (listener := self._listeners.pop((work.session, work.fence), None)) is None:
            return ""
        self._egress.give_back(listener)
        return listener.excess

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return choose(spec, rules=self._rules, model=self._model, leaf=leaf)

    def navigation_guard(self, work: Work, rate_slots: RateSlots) -> SiteNavigationGuard:
        checked = partial(self._egress.checked, owner=work.tenant) if self._filtered else None
        config = self._config
        return PoliteNavigationGuard(
            work.spec.politeness, self._robots, rate_slots, config.user_agent, checked, config.context.schemes
        )

    def documents(self, tenant: str) -> DocumentClient:
        return self._documents.of(tenant)

    def link(self, attendance: Attendance, request: LiveRequest) -> Coroutine[None, None, None]:
        return LiveLink(attendance, self._live_http, request).run()

    def glossaries(self, work: Work, shared: SharedGlossaries) -> Glossaries | None:
        if self._model is None or self._config.model is None or work.spec.policy != "rules":
            return None
        return FieldGlossaries(self._model, self._config.model.model, shared)

    def helper(self, work: Work) -> Helper | None:
        asks = work.spec.help
        if asks.webhook:
            return WebhookHelper(asks.webhook, work, self._http)
        if asks.person and self._config.help_url:
            return WebhookHelper(f"{self._config.help_url}/v1/questions", work, self._own_http, tenant=work.tenant)
        return None

    async def close(self) -> None:
        await self._stack.aclose()


async def make_worker(name: str, config: WorkerConfig) -> Worker:
    """A worker with its real parts."""
    parts = RealParts(name, config)
    try:
        await parts.open()
    except BaseException:
        await parts.close()
        raise
    return Worker(name, config, parts, parts.metrics_delta)
