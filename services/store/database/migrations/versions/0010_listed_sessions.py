"""Sessions that failed or wait for their children are listed without a walk over their job's others.

Revision: 0010.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    few = sa.text("state in (2, 5, 6, 7)")
    op.create_index("session_listed", "session", ["job", "state", "path"], postgresql_where=few, sqlite_where=few)


def downgrade() -> None:
    op.drop_index("session_listed", "session")
