"""Of a deleted job its tenant is kept until all of it is removed: its artifacts lie under the tenant's name.

Revision: 0016.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("deleted", sa.Column("tenant", sa.Text))


def downgrade() -> None:
    op.drop_column("deleted", "tenant")
