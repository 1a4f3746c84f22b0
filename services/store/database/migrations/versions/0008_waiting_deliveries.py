"""Messages that wait are found tenant by tenant, however many of another tenant's are due before them.

Revision: 0008.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    waits = sa.text("state = 0")
    op.create_index("delivery_waits", "delivery", ["tenant", "due_at"], postgresql_where=waits, sqlite_where=waits)


def downgrade() -> None:
    op.drop_index("delivery_waits", "delivery")
