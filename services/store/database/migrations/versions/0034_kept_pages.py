"""Pages whose records a later run may carry over, and how many items of a job were.

Revision: 0034
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("job", sa.Column("carried_over", sa.BigInteger(), nullable=False, server_default=sa.text("0")))
    op.create_table(
        "kept_page",
        sa.Column("job", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("page", sa.Text(), primary_key=True),
        sa.Column("session", sa.BigInteger(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("kept_page")
    op.drop_column("job", "carried_over")
