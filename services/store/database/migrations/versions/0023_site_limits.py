"""Sites: limits that an operator sets.

Revision: 0023
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

COLUMNS = {"own_most": sa.Integer, "own_delay_s": sa.Double, "own_pause_until": sa.Double}
LIMITED = "own_most is not null or own_delay_s is not null or own_pause_until is not null"


def upgrade() -> None:
    for name, kind in COLUMNS.items():
        op.add_column("pace", sa.Column(name, kind()))
    op.execute(f"create index pace_limited on pace (domain) where {LIMITED}")


def downgrade() -> None:
    op.drop_index("pace_limited", "pace")
    for name in COLUMNS:
        op.drop_column("pace", name)
