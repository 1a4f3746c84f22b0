"""API keys may expire, and say when they were last used.

Revision: 0015.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("api_key", sa.Column("expires_at", sa.Double))
    op.add_column("api_key", sa.Column("used_at", sa.Double))


def downgrade() -> None:
    op.drop_column("api_key", "used_at")
    op.drop_column("api_key", "expires_at")
