"""Loops that learn: how far each has come, and what decides for it.

Revision: 0022
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

OPEN = sa.text("open")


def upgrade() -> None:
    op.create_table(
        "learning",
        sa.Column("loop", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("job", sa.BigInteger(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("record_schema", sa.Text(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("gated", sa.Boolean(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("due", sa.Boolean(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("workflow", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text()),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("figures", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("lessons", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
    )
    op.create_index("learning_job", "learning", ["job"])
    op.create_index("learning_open", "learning", ["loop"], postgresql_where=OPEN, sqlite_where=OPEN)


def downgrade() -> None:
    op.drop_table("learning")
