"""An index of the jobs that have unsure sessions: a person is to look at them first.

Revision: 0020, after 0019.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    doubtful = sa.text("unsure > 0")
    op.create_index("job_unsure", "job", ["id"], postgresql_where=doubtful, sqlite_where=doubtful)


def downgrade() -> None:
    op.drop_index("job_unsure", "job")
