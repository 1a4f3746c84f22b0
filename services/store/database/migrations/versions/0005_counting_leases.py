"""Leased sessions are counted from their index alone.

Revision: 0005.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _make_index("job", "children", "lease_until")


def downgrade() -> None:
    _make_index("job", "lease_until")


def _make_index(*columns: str) -> None:
    leased = sa.text("state = 1")
    op.drop_index("session_leased", "session")
    op.create_index("session_leased", "session", columns, postgresql_where=leased, sqlite_where=leased)
