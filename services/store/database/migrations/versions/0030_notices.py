"""Notices: messages for people in the outbox, of which those about the same work become one.

Revision: 0030
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

ABOUT = sa.text("about is not null")


def upgrade() -> None:
    op.add_column("delivery", sa.Column("channel", sa.Text(), nullable=False, server_default=sa.text("''")))
    op.add_column("delivery", sa.Column("about", sa.Text()))
    op.create_index("delivery_about", "delivery", ["about"], postgresql_where=ABOUT, sqlite_where=ABOUT)


def downgrade() -> None:
    op.drop_index("delivery_about", "delivery")
    op.drop_column("delivery", "about")
    op.drop_column("delivery", "channel")
