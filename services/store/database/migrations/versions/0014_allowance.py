"""One rate limit of each tenant for all gateways.

Revision: 0014.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "allowance",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("level", sa.Double, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("allowance")
