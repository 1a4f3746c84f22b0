"""Logins of the dashboard that ended before their time.

Revision: 0028
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ended_login",
        sa.Column("login", sa.Text(), primary_key=True),
        sa.Column("until", sa.Double(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("ended_login")
