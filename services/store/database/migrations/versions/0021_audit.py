"""The audit log: who changed what.

Revision: 0021, after 0020.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", ID, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_tenant", "audit", ["tenant", "id"])


def downgrade() -> None:
    op.drop_table("audit")
