"""One robots.txt of each origin for all workers.

Revision: 0012.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_ZERO = sa.text("0")
_BYTEWISE = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_EMPTY = sa.text("''")


def upgrade() -> None:
    op.create_table(
        "robots",
        sa.Column("origin", _BYTEWISE, primary_key=True),
        sa.Column("state", sa.SmallInteger),
        sa.Column("packed", sa.LargeBinary),
        sa.Column("why", sa.Text, nullable=False, server_default=_EMPTY),
        sa.Column("retry_after_s", sa.Double),
        sa.Column("opinions", sa.Integer, nullable=False, server_default=_ZERO),
        sa.Column("expires_at", sa.Double, nullable=False, server_default=_ZERO),
        sa.Column("fetching_by", sa.Text, nullable=False, server_default=_EMPTY),
        sa.Column("fetching_until", sa.Double, nullable=False, server_default=_ZERO),
    )
    op.create_index("robots_expires", "robots", ["expires_at"])


def downgrade() -> None:
    op.drop_table("robots")
