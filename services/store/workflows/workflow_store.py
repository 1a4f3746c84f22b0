"""The store's side of workflows. Each method is one transaction, and none sees what belongs to another tenant."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.agent.workflows.format.version import State, Version
from shoal.agent.workflows.format.workflow import Scope, Workflow
from shoal.services.store.database.database import Database
from shoal.services.store.workflows import keeping, moves
from shoal.services.store.workflows.records import RepairLease, VersionRow, WorkflowRow


class WorkflowStore:
    """Workflows by tenant and name. Unknown names raise `NotFound`; a lost database raises `StoreAway`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def keep(self, tenant: str, workflow: Workflow) -> WorkflowRow:
        """Stores a workflow; versions of one that is there already come behind its own, as drafts.

        Raises:
            WrongState: a workflow of this name has another scope, or too many versions.
        """
        return await self._db.write(lambda tx: keeping.keep(tx, tenant, workflow))

    async def add_version(self, tenant: str, name: str, version: Version) -> VersionRow:
        """Puts one version behind the others, under the next number.

        Raises:
            WrongState: there are too many, or the parent is none of them.
        """
        return await self._db.write(lambda tx: keeping.add_version(tx, tenant, name, version))

    async def get(self, tenant: str, name: str) -> WorkflowRow:
        """One workflow with all its versions."""
        return await self._db.read(lambda tx: keeping.get(tx, tenant, name))

    async def some(
        self, tenant: str | None, *, site: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[WorkflowRow]:
        """Workflows in the order of their names, those behind `after`; `tenant` None: those of all tenants."""
        return await self._db.read(lambda tx: keeping.some(tx, tenant, site, after, limit))

    async def of_scope(self, tenant: str, scope: Scope) -> WorkflowRow | None:
        """The workflow that was learned for this site, goal and schema; None where there is none."""
        return await self._db.read(lambda tx: keeping.of_scope(tx, tenant, scope))

    async def move(self, tenant: str, name: str, number: int, state: State, why: str = "") -> WorkflowRow:
        """Puts a version into another state; where it becomes active, the one that was so is retired.

        Raises:
            WrongState: a version in its state does not go there.
        """
        return await self._db.write(lambda tx: moves.move(tx, tenant, name, number, state, why))

    async def roll_back(self, tenant: str, name: str, number: int, why: str) -> int | None:
        """Marks a version as broken, and makes its parent active again; the number of the active version."""
        return await self._db.write(lambda tx: moves.roll_back(tx, tenant, name, number, why))

    async def add_figures(self, tenant: str, name: str, number: int, counted: Mapping[str, float]) -> None:
        """Adds to the counts of a version."""
        await self._db.write(lambda tx: moves.add_figures(tx, tenant, name, number, counted))

    async def lease_repair(
        self, tenant: str, name: str, signature: str, owner: str, *, lasts_s: float = 600.0, most_a_day: int = 20
    ) -> RepairLease:
        """Lets one repair for pages of this signature run over the whole cluster, and only so many a day."""
        return await self._db.write(
            lambda tx: moves.lease_repair(tx, tenant, name, signature, owner, lasts_s, most_a_day)
        )

    async def end_repair(self, tenant: str, name: str, signature: str, owner: str) -> bool:
        """Gives the lease of a repair back; False where it had run out."""
        return await self._db.write(lambda tx: moves.end_repair(tx, tenant, name, signature, owner))

    async def drop(self, tenant: str, name: str) -> None:
        """Removes a workflow with all that belongs to it."""
        await self._db.write(lambda tx: keeping.drop(tx, tenant, name))
