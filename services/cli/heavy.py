"""Parts of Shoal whose import takes a second or more, loaded when a command needs them.

The imports at the top of a file tell the truth everywhere else. Here they would make `shoal --help` and each look at a
remote job wait for Ray and SQLAlchemy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from shoal.services.interpreter import import_less

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextlib import AbstractAsyncContextManager
    from typing import Any

    from shoal.api import Api
    from shoal.services.cluster.embedded import Cluster
    from shoal.services.cluster.supervisor import Supervisor
    from shoal.services.doctor import Finding
    from shoal.services.settings import Settings
    from shoal.services.store.store import Store


def gateway_alone(settings: Settings) -> AbstractAsyncContextManager[str]:
    """See `shoal.services.cluster.gateway.gateway_alone`."""
    module = import_module("shoal.services.cluster.gateway")
    return cast("AbstractAsyncContextManager[str]", module.gateway_alone(settings))


def supervised(settings: Settings, *, health_port: int | None) -> AbstractAsyncContextManager[Supervisor]:
    """See `shoal.services.cluster.supervisor.supervised`."""
    module = import_module("shoal.services.cluster.supervisor")
    return cast("AbstractAsyncContextManager[Supervisor]", module.supervised(settings, health_port=health_port))


def set_up_logs(level: str, form: str) -> None:
    """See `shoal.services.logs.set_up`."""
    import_less()
    import_module("shoal.services.logs").set_up(level, form)


def embedded_cluster(settings: Settings, tell: Callable[[str], None]) -> AbstractAsyncContextManager[Cluster]:
    """See `shoal.services.cluster.embedded.embedded_cluster`."""
    import_less()
    module = import_module("shoal.services.cluster.embedded")
    return cast("AbstractAsyncContextManager[Cluster]", module.embedded_cluster(settings, tell=tell))


def own_gateway(settings: Settings, tell: Callable[[str], None]) -> AbstractAsyncContextManager[Api]:
    """See `shoal.embedded.own_gateway`."""
    module = import_module("shoal.embedded")
    return cast("AbstractAsyncContextManager[Api]", module.own_gateway(settings, tell))


def open_store(url: str, *, migrate: bool) -> Coroutine[Any, Any, Store]:
    """See `shoal.services.store.store.open_store`."""
    module = import_module("shoal.services.store.store")
    return cast("Coroutine[Any, Any, Store]", module.open_store(url, migrate=migrate))


def migrate(url: str) -> Coroutine[Any, Any, None]:
    """See `shoal.services.store.database.migrate.migrate`."""
    return cast("Coroutine[Any, Any, None]", import_module("shoal.services.store.database.migrate").migrate(url))


def examine(settings: Settings) -> Coroutine[Any, Any, list[Finding]]:
    """See `shoal.services.doctor.examine`."""
    return cast("Coroutine[Any, Any, list[Finding]]", import_module("shoal.services.doctor").examine(settings))


def pages() -> Any:
    """The module `shoal.services.cli.commands.pages.page_work`."""
    return import_module("shoal.services.cli.commands.pages.page_work")


def learning() -> Any:
    """The module `shoal.services.cli.commands.job.learning`."""
    return import_module("shoal.services.cli.commands.job.learning")


def exchanging() -> Any:
    """The module `shoal.services.cli.commands.job.exchanging`."""
    return import_module("shoal.services.cli.commands.job.exchanging")


def watching() -> Any:
    """The module `shoal.services.cli.commands.cluster.watching`."""
    return import_module("shoal.services.cli.commands.cluster.watching")
