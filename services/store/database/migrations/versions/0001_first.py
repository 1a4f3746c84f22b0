"""The first schema.

Revision: 0001.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BYTEWISE = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    _counters()
    _jobs()
    _sessions()
    _evidence()
    _feed()


def downgrade() -> None:
    for table in (
        "api_key",
        "state",
        "event",
        "artifact",
        "session_detail",
        "session",
        "job_label",
        "job",
        "domain",
        "counter",
    ):
        op.drop_table(table)


def _counters() -> None:
    op.create_table(
        "counter",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "domain",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("host", sa.Text, nullable=False, unique=True),
    )


def _jobs() -> None:
    op.create_table(
        "job",
        sa.Column("id", ID, primary_key=True, autoincrement=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("key", sa.Text),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("priority", sa.SmallInteger, nullable=False),
        sa.Column("politeness", sa.Text),
        sa.Column("root", sa.BigInteger, nullable=False),
        sa.Column("status", sa.SmallInteger, nullable=False),
        sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("deadline_at", sa.Double),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("started_at", sa.Double),
        sa.Column("finished_at", sa.Double),
        sa.Column("error", sa.Text),
        _count("expected", "1"),
        *(_count(name) for name in ("completed", "terminated", "failed", "unsure", "canceled")),
        *(_count(name) for name in ("model_calls", "prompt_tokens", "completion_tokens", "cached_tokens", "pages")),
        postgresql_with={"fillfactor": "50"},
    )
    _index("job_key", "job", ["tenant", "key"], "key is not null", unique=True)
    op.create_index("job_tenant", "job", ["tenant", "id"])
    _index("job_deadline", "job", ["deadline_at"], "deadline_at is not null and finished_at is null")
    op.create_table(
        "job_label",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, primary_key=True),
        sa.Column("job", ID, sa.ForeignKey("job.id", ondelete="CASCADE"), primary_key=True),
    )
    op.create_index("job_label_job", "job_label", ["job"])


def _sessions() -> None:
    op.create_table(
        "session",
        sa.Column("id", ID, primary_key=True, autoincrement=False),
        sa.Column("job", sa.BigInteger, nullable=False),
        sa.Column("parent", sa.BigInteger),
        sa.Column("depth", sa.SmallInteger, nullable=False),
        sa.Column("idx", sa.Integer, nullable=False),
        sa.Column("path", BYTEWISE, nullable=False),
        sa.Column("domain", sa.Integer, nullable=False),
        sa.Column("state", sa.SmallInteger, nullable=False),
        _count("fence"),
        sa.Column("attempt", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("owner", sa.Text),
        sa.Column("lease_until", sa.Double),
        sa.Column("ready_at", sa.Double),
        sa.Column("item", sa.Text),
        sa.Column("checkpoint", sa.Text),
        sa.Column("outcome", sa.Text),
        sa.Column("children", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("pending_children", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("first_child", sa.BigInteger),
        sa.Column("loop_children", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("loop_state", sa.Text),
        sa.Column("seat_limit", sa.Integer),
        sa.Column("seats", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("stop_on_error", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("stopped", sa.Boolean, nullable=False, server_default=sa.text("false")),
    )
    op.create_index("session_path", "session", ["job", "path"], unique=True)
    _index("session_ready", "session", ["job", "domain", "id"], "state = 0")
    _index("session_leased", "session", ["job", "lease_until"], "state = 1")
    _index("session_waiting", "session", ["job"], "state = 2")
    _index("session_delayed", "session", ["ready_at"], "state = 9")
    _index("session_held", "session", ["parent", "id"], "state = 10")


def _evidence() -> None:
    op.create_table(
        "session_detail",
        sa.Column("session", ID, primary_key=True, autoincrement=False),
        sa.Column("fence", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("tasks", sa.Text, nullable=False),
    )
    op.create_table(
        "artifact",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("job", sa.BigInteger, nullable=False),
        sa.Column("session", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("content_type", sa.Text, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_index("artifact_job", "artifact", ["job", "session"])
    op.create_index("artifact_key", "artifact", ["key"])


def _feed() -> None:
    op.create_table(
        "event",
        sa.Column("seq", ID, primary_key=True),
        sa.Column("job", sa.BigInteger, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("event_job", "event", ["job", "seq"])
    op.create_index("event_tenant", "event", ["tenant", "seq"])
    op.create_table(
        "state",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_table(
        "api_key",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("key_hash", sa.Text, nullable=False, unique=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("revoked_at", sa.Double),
    )


def _count(name: str, default: str = "0") -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default=sa.text(default))


def _index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    op.create_index(name, table, columns, unique=unique, postgresql_where=sa.text(where), sqlite_where=sa.text(where))
