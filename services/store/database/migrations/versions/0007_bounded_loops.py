"""Loops come in piece by piece and end piece by piece; pages of a domain keep their distance over all workers.

Revision: 0007.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_ZERO = sa.text("0")


def upgrade() -> None:
    op.create_table(
        "staged",
        sa.Column("session", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("fence", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("job", sa.BigInteger, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("items", sa.LargeBinary, nullable=False),
    )
    op.create_index("staged_job", "staged", ["job"])
    op.add_column("pace", sa.Column("last_page", sa.Double, nullable=False, server_default=_ZERO))
    _partial("job_canceling", "job", "cancel_requested and finished_at is null")
    _partial("session_stopping", "session", "stopped and state = 2")


def _partial(name: str, table: str, where: str) -> None:
    op.create_index(name, table, ["id"], postgresql_where=sa.text(where), sqlite_where=sa.text(where))


def downgrade() -> None:
    op.drop_index("session_stopping", "session")
    op.drop_index("job_canceling", "job")
    with op.batch_alter_table("pace") as pace:
        pace.drop_column("last_page")
    op.drop_table("staged")
