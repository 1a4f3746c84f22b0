"""States of versions, their counts, and the lease on their repair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import insert, select, update

from shoal.agent.types import Replay
from shoal.agent.workflows.format.checks import unrun
from shoal.agent.workflows.format.version import MOVES, State
from shoal.services.errors import NotFound, WrongState
from shoal.services.store.database.tables import workflow, workflow_repair, workflow_version
from shoal.services.store.database.transaction import Tx
from shoal.services.store.workflows.keeping import get, missing
from shoal.services.store.workflows.records import RepairLease, WorkflowRow

_DAY_S = 86_400.0


def move(tx: Tx, tenant: str, name: str, number: int, state: State, why: str = "") -> WorkflowRow:
    """Puts a version into another state; the version that was active is retired where another becomes so.

    Raises:
        NotFound: there is no such workflow or version.
        WrongState: a version in its state does not go there.
    """
    number_of = _lock(tx, tenant, name)
    was = _state(tx, number_of, number)
    if was is None:
        raise NotFound(f"the workflow {name!r} has no version {number}", workflow=name, version=number)
    if was == state:
        return get(tx, tenant, name)
    if state not in MOVES[was]:
        raise WrongState(
            f"version {number} of {name!r} is {was}, and cannot become {state}: from there it goes to "
            f"{', '.join(MOVES[was])}"
        )
    if state in ("shadow", "canary", "active"):
        _check_runs(get(tx, tenant, name), number)
    if state == "active":
        _set(tx, number_of, "active", "retired", f"version {number} took its place")
    tx.conn.execute(
        update(workflow_version)
        .where(workflow_version.c.workflow == number_of, workflow_version.c.number == number)
        .values(state=state, state_at=tx.now, why=why)
    )
    tx.conn.execute(update(workflow).where(workflow.c.id == number_of).values(changed_at=tx.now))
    return get(tx, tenant, name)


def _check_runs(row: WorkflowRow, number: int) -> None:
    """Lets a version pass that replay runs: one that was stored by an older release may hold other nodes.

    Raises:
        WrongState: it has a part that is not run.
    """
    version = next(kept.version for kept in row.versions if kept.version.number == number)
    if faults := [f"{place}: {what}" for place, what in unrun(version)]:
        raise WrongState(f"version {number} of {row.name!r} cannot be replayed: {'; '.join(faults)}")


def roll_back(tx: Tx, tenant: str, name: str, number: int, why: str) -> int | None:
    """Marks a version as broken; its parent is active again where the broken one was, and the parent is only retired.

    Returns:
        The number of the version that is active now; None where there is none.
    """
    row = get(tx, tenant, name)
    target = next((version.version for version in row.versions if version.version.number == number), None)
    if target is None:
        raise NotFound(f"the workflow {name!r} has no version {number}", workflow=name, version=number)
    if target.state == "broken":  # another worker saw the same
        return row.active.version.number if row.active is not None else None
    move(tx, tenant, name, number, "broken", why)
    parent = next((version.version for version in row.versions if version.version.number == target.parent), None)
    if target.state == "active" and parent is not None and parent.state == "retired":
        move(tx, tenant, name, parent.number, "active", f"version {number} broke: {why}")
    active = get(tx, tenant, name).active
    return active.version.number if active is not None else None


def add_figures(tx: Tx, tenant: str, name: str, number: int, counted: Mapping[str, float]) -> None:
    """Adds to the counts of a version.

    Raises:
        NotFound: there is no such workflow or version.
    """
    row = tx.run("lock_version", tenant=tenant, name=name, number=number).first()
    if row is None:
        _lock(tx, tenant, name)
        raise NotFound(f"the workflow {name!r} has no version {number}", workflow=name, version=number)
    rows = [{"workflow": row.id, "number": number, "name": what, "value": n} for what, n in counted.items()]
    tx.each("add_figures", rows)


def note_replays(tx: Tx, replays: Sequence[tuple[str, Replay | None]]) -> None:
    """Adds what became of replays, each with its tenant, to the counts of their versions.

    What ran beside a baseline, who gave the record, is no replay: it is counted under `shadow`. A workflow that was
    deleted meanwhile, or that a job brought along, has no counts. A sample is not counted: its version may have been
    changed for it.
    """
    counted: dict[tuple[str, str, int], Counter[str]] = {}
    for tenant, replay in replays:
        if replay is not None and replay.detail is None:
            figures = counted.setdefault((tenant, replay.workflow, replay.version), Counter())
            figures.update(_counted(replay))
    for (tenant, name, number), figures in sorted(counted.items()):
        with suppress(NotFound):
            add_figures(tx, tenant, name, number, figures)


def _counted(replay: Replay) -> set[str]:
    """The counts of its version that one replay adds 1 to."""
    if replay.shadow:
        names = {"shadow"} if replay.whole else {"shadow", "shadow_misses"}
        return names | ({"shadow_wrong"} if replay.audit == "wrong" else set())
    names = {"replays" if replay.whole else "misses"}
    names |= {f"miss_{reason}" for reason in replay.misses}
    names |= {f"miss_{reason}@{node}" for reason, node in zip(replay.misses, replay.missed_at, strict=False)}
    if replay.audit in ("right", "wrong", "unclear"):
        names |= {"audits", f"audits_{replay.audit}"}
    return names


def lease_repair(
    tx: Tx, tenant: str, name: str, signature: str, owner: str, lasts_s: float, most_a_day: int
) -> RepairLease:
    """Lets one repair of a workflow's pages with this signature run, over the whole cluster, and not too often.

    A repair whose owner died may be begun again once its lease has run out. `owner` that asks again keeps it.

    Raises:
        NotFound: there is no such workflow.
    """
    number_of = _lock(tx, tenant, name)
    c, day = workflow_repair.c, int(tx.now // _DAY_S)
    begun = sum(row.begun for row in tx.conn.execute(select(c.begun).where(c.workflow == number_of, c.day == day)))
    repair = tx.conn.execute(select(workflow_repair).where(c.workflow == number_of, c.signature == signature)).first()
    if repair is not None and repair.until > tx.now:
        if repair.owner != owner:
            return RepairLease(False, "another session repairs it")
        _renew(tx, repair, owner, tx.now + lasts_s)
        return RepairLease(True)
    if begun >= most_a_day:
        return RepairLease(False, f"{begun} repairs of it have begun today, and no more may")
    values = {"owner": owner, "until": tx.now + lasts_s, "day": day}
    if repair is None:
        values |= {"workflow": number_of, "signature": signature, "begun": 1}
        tx.conn.execute(insert(workflow_repair).values(**values))
    else:
        values["begun"] = 1 + (repair.begun if repair.day == day else 0)
        at = (c.workflow == number_of, c.signature == signature)
        tx.conn.execute(update(workflow_repair).where(*at).values(**values))
    return RepairLease(True)


def end_repair(tx: Tx, tenant: str, name: str, signature: str, owner: str) -> bool:
    """Gives a lease back; False where it was another's by then."""
    number_of = _lock(tx, tenant, name)
    c = workflow_repair.c
    at = (c.workflow == number_of, c.signature == signature, c.owner == owner, c.until > tx.now)
    return bool(tx.conn.execute(update(workflow_repair).where(*at).values(until=tx.now)).rowcount)


def _renew(tx: Tx, repair: Any, owner: str, until: float) -> None:
    c = workflow_repair.c
    at = (c.workflow == repair.workflow, c.signature == repair.signature)
    tx.conn.execute(update(workflow_repair).where(*at).values(owner=owner, until=until))


def _lock(tx: Tx, tenant: str, name: str) -> int:
    """The id of a workflow, whose versions no other transaction changes until this one ends."""
    query = select(workflow.c.id).where(workflow.c.tenant == tenant, workflow.c.name == name).with_for_update()
    row = tx.conn.execute(query).first()
    if row is None:
        raise missing(name)
    return int(row.id)


def _state(tx: Tx, number_of: int, number: int) -> State | None:
    c = workflow_version.c
    state: State | None = tx.conn.execute(
        select(c.state).where(c.workflow == number_of, c.number == number)
    ).scalar_one_or_none()
    return state


def _set(tx: Tx, number_of: int, was: State, state: State, why: str) -> None:
    c = workflow_version.c
    values = {"state": state, "state_at": tx.now, "why": why}
    tx.conn.execute(update(workflow_version).where(c.workflow == number_of, c.state == was).values(**values))
