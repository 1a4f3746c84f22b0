"""Sinks: where the records of jobs that have ended are still to be written.

Revision: 0033
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sink",
        sa.Column("job", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("nth", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("failures", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("leased", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        sa.Column("cursor", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("written", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double()),
        sa.Column("error", sa.Text(), nullable=False, server_default=sa.text("''")),
    )
    for name, where, unique, columns in (
        ("sink_due", "state = 'waiting'", False, ["due_at"]),
        ("sink_leased", "leased", True, ["tenant", "place"]),
        ("sink_failed", "state = 'failed'", False, ["tenant", "job"]),
    ):
        condition = sa.text(where)
        op.create_index(name, "sink", columns, unique=unique, postgresql_where=condition, sqlite_where=condition)
    op.create_index("sink_place", "sink", ["tenant", "place", "job"])


def downgrade() -> None:
    op.drop_table("sink")
