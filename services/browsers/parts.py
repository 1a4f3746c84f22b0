"""The real parts of a worker: Chromium behind the egress filter, the artifact store, robots.txt, the policies."""

from __future__ import annotations

from contextlib import AsyncExitStack
from importlib import import_module
from typing import Literal

import httpx

from agent.browser import Browser
from agent.chromium.launch import LaunchOptions, launch
from agent.help import Helper
from agent.policies.choose import choose
from agent.policies.model import ModelPolicy, ModelPolicyOptions
from agent.policies.policy import Policy
from agent.policies.rules.policy import RulesPolicy
from agent.spec import JobSpec
from agent.work import Work
from services.artifacts.open import open_artifacts
from services.browsers.config import WorkerConfig
from services.browsers.egress import CHROMIUM_FLAGS, EgressProxy
from services.browsers.gate import PoliteGate, SiteGate, Turns
from services.browsers.help import WebhookHelper
from services.browsers.measured import MeasuredModel
from services.browsers.owner import BrowserOwner
from services.browsers.robots import Robots
from services.browsers.worker import Worker
from services.tally import Tally

_SANDBOX: dict[str, Literal["auto", "yes", "no"]] = {"auto": "auto", "on": "yes", "off": "no"}


class RealParts:
    """What one worker owns besides its sessions; `close` ends all of it in reverse order."""

    def __init__(self, name: str, config: WorkerConfig) -> None:
        self._config = config
        self._stack = AsyncExitStack()
        self.tally = Tally()
        self._rules = RulesPolicy()
        self._model: ModelPolicy | None = None
        self._egress: EgressProxy | None = None
        self.artifacts = open_artifacts(config.artifacts_url, config.artifacts)
        self.owner = BrowserOwner(self._launch, config.browser, worker=name, tally=self.tally)

    async def open(self) -> None:
        """Starts what has to run before the first session; the browser starts with it."""
        self._stack.push_async_callback(self.artifacts.close)
        if not self._config.reach.allow_private:
            self._egress = await self._stack.enter_async_context(EgressProxy(self._config.reach))
        self._robots = Robots(proxy=self._proxy)
        self._stack.push_async_callback(self._robots.close)
        self._http = await self._stack.enter_async_context(httpx.AsyncClient(proxy=self._proxy, trust_env=False))
        # The gateway is this installation's own: it may be reached though pages may not.
        token = {"Authorization": f"Bearer {self._config.help_token}"}
        self._own_http = await self._stack.enter_async_context(httpx.AsyncClient(headers=token, trust_env=False))
        if self._config.model is not None:
            # Only where there is a model: the client library's types are a quarter of what a worker has to import.
            server = import_module("agent.models.openai_compatible").OpenAICompatible(self._config.model)
            model = MeasuredModel(server, self.tally)
            self._stack.push_async_callback(model.close)
            self._model = ModelPolicy(model, self._rules, options=ModelPolicyOptions.of(self._config.model))
        self._stack.push_async_callback(self.owner.close)

    @property
    def _proxy(self) -> str | None:
        return self._egress.url if self._egress else None

    async def _launch(self) -> Browser:
        return await launch(
            LaunchOptions(
                executable=self._config.chromium,
                sandbox=_SANDBOX[self._config.sandbox],
                proxy=self._proxy,
                proxy_bypass="<-loopback>" if self._proxy else None,
                temp_dir=self._config.temp_dir,
                args=CHROMIUM_FLAGS if self._proxy else (),
            )
        )

    def policy(self, spec: JobSpec) -> Policy:
        return choose(spec.policy, rules=self._rules, model=self._model)

    def gate(self, spec: JobSpec, turns: Turns) -> SiteGate:
        return PoliteGate(spec.politeness, self._robots, turns, self._config.user_agent, self._egress)

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
    return Worker(name, config, parts, parts.tally)
