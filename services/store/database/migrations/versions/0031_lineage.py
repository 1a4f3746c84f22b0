"""Which jobs are runs of the same work, one after the other.

Revision: 0031
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("job", sa.Column("lineage", sa.Text()))
    related = sa.text("lineage is not null")
    op.create_index("job_lineage", "job", ["lineage", "id"], postgresql_where=related, sqlite_where=related)


def downgrade() -> None:
    op.drop_index("job_lineage", "job")
    op.drop_column("job", "lineage")
