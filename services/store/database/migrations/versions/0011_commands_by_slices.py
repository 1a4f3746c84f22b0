"""What an owner changes about a long job is done slice by slice, and any dispatcher finds what is left of it.

Revision: 0011.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table("deleted", sa.Column("job", _ID, primary_key=True, autoincrement=False))
    op.add_column("session", sa.Column("reseating", sa.Boolean, nullable=False, server_default=sa.text("false")))
    op.add_column("job", sa.Column("retry_below", sa.BigInteger))
    _partial("job_retrying", "job", ["id"], "retry_below is not null")
    _partial("session_retriable", "session", ["job", "id"], "state in (5, 6, 8)")
    _partial("session_emptied", "session", ["job", "id"], "state = 2 and pending_children = 0")
    _partial("session_reseating", "session", ["id"], "reseating and state = 2")


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, postgresql_where=sa.text(where), sqlite_where=sa.text(where))


def downgrade() -> None:
    for index in ("session_reseating", "session_emptied", "session_retriable"):
        op.drop_index(index, "session")
    op.drop_index("job_retrying", "job")
    op.drop_column("job", "retry_below")
    op.drop_column("session", "reseating")
    op.drop_table("deleted")
