"""Loops stored piece by piece, domains that all dispatchers treat alike, finished jobs that are dropped.

Revision: 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_EXPIRES = sa.text("expires_at is not null")
_KEPT = sa.text("finished_at is not null and archive is null")
_RUNNING = sa.text("state = 1")


def upgrade() -> None:
    op.add_column("job", sa.Column("concurrency", sa.Integer))
    op.add_column("job", sa.Column("expires_at", sa.Double))
    op.add_column("job", sa.Column("archive", sa.Text))
    op.create_index("job_expires", "job", ["expires_at"], postgresql_where=_EXPIRES, sqlite_where=_EXPIRES)
    op.create_index("job_finished", "job", ["finished_at"], postgresql_where=_KEPT, sqlite_where=_KEPT)
    op.create_index("session_busy", "session", ["domain", "job"], postgresql_where=_RUNNING, sqlite_where=_RUNNING)
    op.create_table(
        "unborn",
        sa.Column("first", ID, primary_key=True, autoincrement=False),
        sa.Column("job", sa.BigInteger, nullable=False),
        sa.Column("parent", sa.BigInteger, nullable=False),
        sa.Column("idx", sa.Integer, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("items", sa.LargeBinary, nullable=False),
    )
    op.create_index("unborn_job", "unborn", ["job", "first"])
    op.create_table(
        "pace",
        sa.Column("domain", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("most", sa.Double),
        sa.Column("good", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("blocked_until", sa.Double, nullable=False, server_default=sa.text("0")),
        sa.Column("delay_s", sa.Double, nullable=False, server_default=sa.text("0")),
        sa.Column("last_start", sa.Double, nullable=False, server_default=sa.text("0")),
    )
    op.create_table(
        "job_pace",
        sa.Column("job", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("domain", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("last_start", sa.Double, nullable=False),
    )


def downgrade() -> None:
    for table in ("job_pace", "pace", "unborn"):
        op.drop_table(table)
    op.drop_index("session_busy", "session")
    op.drop_index("job_finished", "job")
    op.drop_index("job_expires", "job")
    for column in ("archive", "expires_at", "concurrency"):
        op.drop_column("job", column)
