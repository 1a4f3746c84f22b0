"""Each job keeps its own distance between its pages; the crawl-delay of a site is kept by all.

Revision: 0013.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_ZERO = sa.text("0")


def upgrade() -> None:
    op.add_column("job_pace", sa.Column("last_page", sa.Double, nullable=False, server_default=_ZERO))
    op.add_column("pace", sa.Column("taken", sa.Text))
    with op.batch_alter_table("pace") as pace:
        pace.drop_column("last_page")


def downgrade() -> None:
    op.add_column("pace", sa.Column("last_page", sa.Double, nullable=False, server_default=_ZERO))
    with op.batch_alter_table("pace") as pace:
        pace.drop_column("taken")
    with op.batch_alter_table("job_pace") as job_pace:
        job_pace.drop_column("last_page")
