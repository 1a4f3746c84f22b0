"""Puts workflows and versions into the store, and finds them again; all of one tenant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, select, update

from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.format.workflow import Scope, Workflow
from shoal.services.errors import NotFound, WrongState
from shoal.services.store.database import codec
from shoal.services.store.database.tables import (
    workflow,
    workflow_figure,
    workflow_repair,
    workflow_version,
)
from shoal.services.store.database.transaction import Tx
from shoal.services.store.read.reading import when
from shoal.services.store.workflows.records import VersionRow, WorkflowRow

MOST_VERSIONS = 200
"""Of one workflow. A workflow that is repaired this often is not the right one."""


def keep(tx: Tx, tenant: str, given: Workflow) -> WorkflowRow:
    """Stores a workflow; versions of one that is there already are put behind its own, with new numbers, as drafts.

    What is sent again, since its answer was lost, changes nothing.

    Raises:
        WrongState: a workflow of this name has another scope, or too many versions.
    """
    kept = tx.conn.execute(_of(tenant, given.name).with_for_update()).first()
    if kept is None:
        scope = given.scope
        row = tx.conn.execute(
            insert(workflow)
            .values(
                tenant=tenant,
                name=given.name,
                site=scope.site,
                goal=scope.goal,
                record_schema=scope.record_schema,
                created_at=tx.now,
                changed_at=tx.now,
                versions=0,
            )
            .returning(workflow.c.id)
        ).one()
        _add(tx, row.id, 0, given.versions)
        return get(tx, tenant, given.name)
    if _scope(kept) != given.scope:
        raise WrongState(
            f"there is a workflow {given.name!r} for {kept.site} already, with another scope: "
            "give this one another name"
        )
    if _substance(given.versions) != _substance(_stored(tx, kept.id)[-len(given.versions) :]):  # it is not sent again
        _add(tx, kept.id, kept.versions, [version.model_copy(update={"state": "draft"}) for version in given.versions])
    return get(tx, tenant, given.name)


def _stored(tx: Tx, number_of: int) -> list[Version]:
    c = workflow_version.c
    rows = tx.conn.execute(select(c.body).where(c.workflow == number_of).order_by(c.number)).scalars()
    return [Version.model_validate(codec.load_json(body)) for body in rows]


def _substance(versions: Sequence[Version]) -> list[Version]:
    """Versions without what the store itself says of them."""
    return [version.model_copy(update={"number": 1, "parent": None, "state": "draft"}) for version in versions]


def _add(tx: Tx, number_of: int, last: int, versions: Sequence[Version]) -> None:
    """Puts versions behind the last one, and their parents with them."""
    if last + len(versions) > MOST_VERSIONS:
        raise WrongState(f"a workflow has {MOST_VERSIONS} versions at most; delete it, or learn it under another name")
    numbers = {version.number: last + place for place, version in enumerate(versions, 1)}
    rows = [_values(tx, number_of, version, numbers) for version in versions]
    tx.conn.execute(insert(workflow_version), rows)
    tx.conn.execute(
        update(workflow).where(workflow.c.id == number_of).values(versions=last + len(versions), changed_at=tx.now)
    )


def _values(tx: Tx, number_of: int, version: Version, numbers: Mapping[int, int]) -> dict[str, Any]:
    parent = numbers.get(version.parent, version.parent) if version.parent is not None else None
    body = version.model_copy(update={"number": numbers[version.number], "parent": parent, "state": "draft"})
    return {
        "workflow": number_of,
        "number": numbers[version.number],
        "state": version.state,
        "state_at": tx.now,
        "why": "",
        "body": codec.dump_json(body.as_json()),
        "created_at": tx.now,
    }


def add_version(tx: Tx, tenant: str, name: str, version: Version) -> VersionRow:
    """Puts one version behind the others of a workflow, under the next number.

    Raises:
        NotFound: there is no such workflow.
        WrongState: it has too many versions, or none with the number of the parent.
    """
    kept = tx.conn.execute(_of(tenant, name).with_for_update()).first()
    if kept is None:
        raise missing(name)
    if version.parent is not None and not 1 <= version.parent <= kept.versions:
        raise WrongState(f"the workflow {name!r} has no version {version.parent} that a parent could be")
    number = kept.versions + 1
    _add(tx, kept.id, kept.versions, [version.model_copy(update={"number": number})])
    return next(row for row in get(tx, tenant, name).versions if row.version.number == number)


def get(tx: Tx, tenant: str, name: str) -> WorkflowRow:
    """One workflow with all its versions.

    Raises:
        NotFound: the tenant has none of this name.
    """
    row = tx.conn.execute(_of(tenant, name)).first()
    if row is None:
        raise missing(name)
    return _rows(tx, [row])[0]


def some(tx: Tx, tenant: str | None, site: str | None, after: str | None, limit: int) -> list[WorkflowRow]:
    """Workflows in the order of their names; `tenant` None: those of all."""
    where: list[ColumnElement[bool]] = []
    if tenant is not None:
        where.append(workflow.c.tenant == tenant)
    if site is not None:
        where.append(workflow.c.site == site)
    if after is not None:
        where.append(workflow.c.name > after)
    query = select(workflow).where(*where).order_by(workflow.c.name, workflow.c.id).limit(limit)
    return _rows(tx, tx.conn.execute(query).all())


def of_scope(tx: Tx, tenant: str, scope: Scope) -> WorkflowRow | None:
    """The workflow that was learned for this site, goal and schema: the one that changed last."""
    query = (
        select(workflow)
        .where(
            workflow.c.tenant == tenant,
            workflow.c.site == scope.site,
            workflow.c.goal == scope.goal,
            workflow.c.record_schema == scope.record_schema,
        )
        .order_by(workflow.c.changed_at.desc(), workflow.c.id)
        .limit(1)
    )
    row = tx.conn.execute(query).first()
    return _rows(tx, [row])[0] if row is not None else None


def drop(tx: Tx, tenant: str, name: str) -> None:
    """Removes a workflow with all that belongs to it.

    Raises:
        NotFound: the tenant has none of this name.
    """
    row = tx.conn.execute(_of(tenant, name).with_for_update()).first()
    if row is None:
        raise missing(name)
    for table in (workflow_repair, workflow_figure, workflow_version):
        tx.conn.execute(delete(table).where(table.c.workflow == row.id))
    tx.conn.execute(delete(workflow).where(workflow.c.id == row.id))


def missing(name: str) -> NotFound:
    """The error for a workflow that is not there, or is another tenant's."""
    return NotFound(f"there is no workflow {name!r}", workflow=name)


def _of(tenant: str, name: str) -> Any:
    return select(workflow).where(workflow.c.tenant == tenant, workflow.c.name == name)


def _scope(row: Row[Any]) -> Scope:
    return Scope(site=row.site, goal=row.goal, record_schema=row.record_schema)


def _rows(tx: Tx, rows: Sequence[Row[Any]]) -> list[WorkflowRow]:
    numbers = [row.id for row in rows]
    figures: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for stored in tx.conn.execute(select(workflow_figure).where(workflow_figure.c.workflow.in_(numbers))):
        figures[stored.workflow, stored.number][stored.name] = stored.value
    versions: dict[int, list[VersionRow]] = defaultdict(list)
    query = select(workflow_version).where(workflow_version.c.workflow.in_(numbers))
    for stored in tx.conn.execute(query.order_by(workflow_version.c.workflow, workflow_version.c.number)):
        body = Version.model_validate(codec.load_json(stored.body)).model_copy(update={"state": stored.state})
        versions[stored.workflow].append(
            VersionRow(body, when(stored.state_at), stored.why, figures.get((stored.workflow, stored.number), {}))
        )
    return [
        WorkflowRow(
            id=row.id,
            tenant=row.tenant,
            name=row.name,
            scope=_scope(row),
            created_at=when(row.created_at),
            changed_at=when(row.changed_at),
            versions=tuple(versions[row.id]),
        )
        for row in rows
    ]
