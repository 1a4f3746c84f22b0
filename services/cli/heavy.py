"""Parts of Shoal whose import takes a second or more, loaded when a command needs them.

The imports at the top of a file tell the truth everywhere else. Here they would make `shoal --help` and each look at a
remote job wait for Ray and SQLAlchemy.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextlib import AbstractAsyncContextManager
    from typing import Any

    from services.cluster.embedded import Cluster
    from services.cluster.supervisor import Supervisor
    from services.doctor import Finding
    from services.gateway.specs import SpecGate
    from services.settings import Settings
    from services.store.sql import SqlStore


def embedded_cluster(settings: Settings, tell: Callable[[str], None]) -> AbstractAsyncContextManager[Cluster]:
    """See `services.cluster.embedded.embedded_cluster`."""
    module = import_module("services.cluster.embedded")
    return cast("AbstractAsyncContextManager[Cluster]", module.embedded_cluster(settings, tell=tell))


def spec_gate(settings: Settings) -> SpecGate:
    """The check that the gateway of an embedded cluster with these settings makes of each job."""
    rules = replace(import_module("services.cluster.configs").spec_rules(settings), people=True)  # its dashboard asks
    names = import_module("services.addresses").HostNames()
    return cast("SpecGate", import_module("services.gateway.specs").SpecGate(rules, names))


def gateway_alone(settings: Settings) -> AbstractAsyncContextManager[str]:
    """See `services.cluster.serving.gateway_alone`."""
    module = import_module("services.cluster.serving")
    return cast("AbstractAsyncContextManager[str]", module.gateway_alone(settings))


def supervised(settings: Settings, *, health_port: int | None) -> AbstractAsyncContextManager[Supervisor]:
    """See `services.cluster.supervisor.supervised`."""
    module = import_module("services.cluster.supervisor")
    return cast("AbstractAsyncContextManager[Supervisor]", module.supervised(settings, health_port=health_port))


def open_store(url: str, *, migrate: bool) -> Coroutine[Any, Any, SqlStore]:
    """See `services.store.sql.open_store`."""
    module = import_module("services.store.sql")
    return cast("Coroutine[Any, Any, SqlStore]", module.open_store(url, migrate=migrate))


def migrate(url: str) -> Coroutine[Any, Any, None]:
    """See `services.store.migrate.migrate`."""
    return cast("Coroutine[Any, Any, None]", import_module("services.store.migrate").migrate(url))


def examine(settings: Settings) -> Coroutine[Any, Any, list[Finding]]:
    """See `services.doctor.examine`."""
    return cast("Coroutine[Any, Any, list[Finding]]", import_module("services.doctor").examine(settings))


def pages() -> Any:
    """The module `services.cli.pages`."""
    return import_module("services.cli.pages")


def watching() -> Any:
    """The module `services.cli.watching`."""
    return import_module("services.cli.watching")
