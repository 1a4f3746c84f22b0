"""What has ended is added up by tenant when a job ends, so that no query sums up all jobs there ever were.

Revision: 0009.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

COUNTS = ("completed", "terminated", "failed", "unsure", "canceled")


def upgrade() -> None:
    _make_table()
    if op.get_bind().dialect.name == "postgresql":
        # Rows that are there get a column's first default without being written, and there may be a million of them.
        op.add_column("job", sa.Column("in_totals", sa.Boolean, nullable=False, server_default=sa.true()))
        op.alter_column("job", "in_totals", server_default=sa.false())
        op.execute("update job set in_totals = false where finished_at is null")
    else:
        op.add_column("job", sa.Column("in_totals", sa.Boolean, nullable=False, server_default=sa.text("false")))
        op.execute("update job set in_totals = true where finished_at is not null")
    names, sums = ", ".join(COUNTS), ", ".join(f"sum({name})" for name in COUNTS)
    op.execute(f"insert into total (tenant, {names}) select tenant, {sums} from job where in_totals group by tenant")
    # Jobs that an older program ends while it still runs: it leaves the column as it is.
    left_out = sa.text("finished_at is not null and not in_totals")
    op.create_index("job_left_out", "job", ["id"], postgresql_where=left_out, sqlite_where=left_out)


def _make_table() -> None:
    zero = sa.text("0")
    op.create_table(
        "total",
        sa.Column("tenant", sa.Text, primary_key=True),
        *(sa.Column(name, sa.BigInteger, nullable=False, server_default=zero) for name in COUNTS),
        postgresql_with={"fillfactor": "50"},
    )


def downgrade() -> None:
    op.drop_index("job_left_out", "job")
    op.drop_column("job", "in_totals")
    op.drop_table("total")
