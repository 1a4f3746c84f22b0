"""Jobs that are not over are found among any number that are.

Revision: 0006.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    unfinished = sa.text("finished_at is null")
    op.create_index("job_open", "job", ["id"], postgresql_where=unfinished, sqlite_where=unfinished)


def downgrade() -> None:
    op.drop_index("job_open", "job")
