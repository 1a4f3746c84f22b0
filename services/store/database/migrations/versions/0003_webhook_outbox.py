"""The outbox of webhooks.

Revision: 0003.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_DUE = sa.text("state = 0")
_DEAD = sa.text("state = 2")


def upgrade() -> None:
    op.create_table(
        "delivery",
        sa.Column("id", ID, primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("job", sa.BigInteger, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("state", sa.SmallInteger, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("due_at", sa.Double, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("ended_at", sa.Double),
        sa.Column("status_code", sa.SmallInteger),
        sa.Column("error", sa.Text, nullable=False, server_default=sa.text("''")),
        sqlite_autoincrement=True,
    )
    op.create_index("delivery_due", "delivery", ["due_at"], postgresql_where=_DUE, sqlite_where=_DUE)
    op.create_index("delivery_dead", "delivery", ["tenant", "id"], postgresql_where=_DEAD, sqlite_where=_DEAD)
    op.create_index("delivery_tenant", "delivery", ["tenant", "id"])
    op.create_index("delivery_job", "delivery", ["job", "id"])
    op.create_index("delivery_ended", "delivery", ["ended_at"])


def downgrade() -> None:
    op.drop_table("delivery")
