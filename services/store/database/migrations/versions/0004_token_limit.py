"""Token limits that an owner changes while a job runs.

Revision: 0004.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("job", sa.Column("token_limit", sa.BigInteger))


def downgrade() -> None:
    op.drop_column("job", "token_limit")
