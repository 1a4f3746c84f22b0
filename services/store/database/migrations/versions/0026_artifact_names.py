"""Artifacts: how a site calls a file that was downloaded.

Revision: 0026
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("artifact", sa.Column("name", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("artifact", "name")
