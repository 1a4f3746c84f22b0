"""The audit log: who changed what, and when. Entries are added and read, and never changed."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, insert, or_, select

from shoal.services.store.database.tables import audit
from shoal.services.store.database.transaction import Tx
from shoal.services.store.read.reading import when
from shoal.services.store.records import AuditEntry, AuditFilter, NewAuditEntry


def add(tx: Tx, entry: NewAuditEntry) -> None:
    """Adds an entry at this moment."""
    tx.conn.execute(
        insert(audit).values(
            at=tx.now,
            tenant=entry.tenant,
            actor=entry.actor,
            action=entry.action,
            subject=entry.subject,
            detail=entry.detail,
            request=entry.request,
        )
    )


def entries(tx: Tx, audit_filter: AuditFilter) -> list[AuditEntry]:
    """Entries that match, newest first."""
    query = select(audit).order_by(audit.c.id.desc()).limit(audit_filter.limit)
    if audit_filter.tenant is not None:
        query = query.where(audit.c.tenant == audit_filter.tenant)
    if audit_filter.before is not None:
        query = query.where(audit.c.id < audit_filter.before)
    if audit_filter.actor:
        query = query.where(audit.c.actor.icontains(audit_filter.actor, autoescape=True))
    if audit_filter.text:
        columns = (audit.c.action, audit.c.subject, audit.c.detail)
        query = query.where(or_(*(column.icontains(audit_filter.text, autoescape=True) for column in columns)))
    if audit_filter.since is not None:
        query = query.where(audit.c.at >= audit_filter.since.timestamp())
    if audit_filter.until is not None:
        query = query.where(audit.c.at < audit_filter.until.timestamp())
    return [_entry(row) for row in tx.conn.execute(query)]


def _entry(row: Row[Any]) -> AuditEntry:
    return AuditEntry(
        id=row.id,
        at=when(row.at),
        tenant=row.tenant,
        actor=row.actor,
        action=row.action,
        subject=row.subject,
        detail=row.detail,
        request=row.request,
    )
