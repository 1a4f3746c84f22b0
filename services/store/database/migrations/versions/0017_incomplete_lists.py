"""Lists of which less was given than there is are known by session, and summed up when their job is over.

Revision: 0017.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("job", sa.Column("incomplete", sa.Text))
    for name in ("found", "shown"):
        op.add_column("session", sa.Column(name, sa.Integer))
    short = sa.text("found is not null and state = 4")
    op.create_index("session_incomplete", "session", ["job"], postgresql_where=short, sqlite_where=short)


def downgrade() -> None:
    op.drop_index("session_incomplete", "session")
    for name in ("shown", "found"):
        op.drop_column("session", name)
    op.drop_column("job", "incomplete")
