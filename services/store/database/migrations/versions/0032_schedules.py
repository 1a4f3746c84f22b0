"""Schedules and their runs.

Revision: 0032
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BYTEWISE = sa.Text().with_variant(TEXT(collation="C"), "postgresql")
OPEN = sa.text("pending is not null")


def upgrade() -> None:
    op.create_table(
        "schedule",
        sa.Column("id", ID, primary_key=True),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", BYTEWISE, nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("start", sa.Double(), nullable=False),
        sa.Column("due_at", sa.Double()),
        sa.Column("created_by", sa.Text()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.Column("history_from", sa.Double(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("schedule_name", "schedule", ["tenant", "name"], unique=True)
    op.create_index("schedule_due", "schedule", ["due_at"])
    op.create_table(
        "schedule_run",
        sa.Column("schedule", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double(), primary_key=True, autoincrement=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("fired_at", sa.Double(), nullable=False),
        sa.Column("job", sa.BigInteger()),
        sa.Column("pending", sa.Text()),
        sa.Column("figures", sa.Text()),
        sa.Column("verdict", sa.Text()),
    )
    op.create_index("schedule_run_job", "schedule_run", ["job"])
    op.create_index("schedule_run_open", "schedule_run", ["schedule"], postgresql_where=OPEN, sqlite_where=OPEN)


def downgrade() -> None:
    op.drop_table("schedule_run")
    op.drop_table("schedule")
