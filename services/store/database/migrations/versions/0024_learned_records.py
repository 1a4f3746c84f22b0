"""Loops that learn: what their records say together, and which item has which record.

Revision: 0024
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("learning", sa.Column("batch", sa.Text(), nullable=False, server_default=sa.text("'{}'")))
    op.create_table(
        "learned_record",
        sa.Column("job", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("loop", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("key", sa.Text(), primary_key=True),
        sa.Column("session", sa.BigInteger(), nullable=False),
        sa.Column("sure", sa.Boolean(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("learned_record")
    op.drop_column("learning", "batch")
