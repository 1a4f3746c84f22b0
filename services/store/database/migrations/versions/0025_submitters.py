"""Jobs: the name of the key that each was submitted with.

Revision: 0025
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("job", sa.Column("submitted_by", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("job", "submitted_by")
