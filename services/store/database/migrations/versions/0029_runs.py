"""Runs of documents: leases of one worker that count as so many sessions on their site as are under way at once.

Revision: 0029
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("session", sa.Column("width", sa.SmallInteger()))


def downgrade() -> None:
    op.drop_column("session", "width")
