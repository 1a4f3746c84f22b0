"""Workflows: what was learned, by tenant, in versions.

Revision: 0018
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BYTEWISE = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "workflow",
        sa.Column("id", ID, primary_key=True),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", BYTEWISE, nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("record_schema", sa.Text(), nullable=False),
        sa.Column("versions", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
    )
    op.create_index("workflow_name", "workflow", ["tenant", "name"], unique=True)
    op.create_index("workflow_scope", "workflow", ["tenant", "site", "goal", "record_schema"])
    op.create_table(
        "workflow_version",
        sa.Column("workflow", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("state_at", sa.Double(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
    )
    op.create_table(
        "workflow_figure",
        sa.Column("workflow", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("value", sa.Double(), nullable=False),
    )
    op.create_table(
        "workflow_repair",
        sa.Column("workflow", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("signature", sa.Text(), primary_key=True),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("begun", sa.Integer(), nullable=False),
    )


def downgrade() -> None:
    for table in ("workflow_repair", "workflow_figure", "workflow_version", "workflow"):
        op.drop_table(table)
