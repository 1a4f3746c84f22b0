"""The whole schema of the first release.

Revision: 0017. The revisions 0001 to 0016 were never released; a database at 0017 has exactly these tables.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0017"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BYTEWISE = sa.Text().with_variant(TEXT(collation="C"), "postgresql")
ZERO = sa.text("0")
FALSE = sa.text("false")
EMPTY = sa.text("''")


def upgrade() -> None:
    _counters()
    _jobs()
    _parts_of_jobs()
    _sessions()
    _children()
    _domains()
    _evidence()
    _feed()
    _access()


def downgrade() -> None:
    for table in (
        "allowance",
        "api_key",
        "state",
        "delivery",
        "event",
        "artifact",
        "session_detail",
        "robots",
        "job_pace",
        "pace",
        "staged",
        "unborn",
        "session",
        "deleted",
        "job_label",
        "total",
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
        sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=FALSE),
        sa.Column("deadline_at", sa.Double),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("started_at", sa.Double),
        sa.Column("finished_at", sa.Double),
        sa.Column("error", sa.Text),
        sa.Column("expected", sa.BigInteger, nullable=False, server_default=sa.text("1")),
        sa.Column("completed", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("terminated", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("failed", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("unsure", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("canceled", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("model_calls", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("prompt_tokens", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("completion_tokens", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("cached_tokens", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("pages", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("concurrency", sa.Integer),
        sa.Column("expires_at", sa.Double),
        sa.Column("token_limit", sa.BigInteger),
        sa.Column("archive", sa.Text),
        sa.Column("in_totals", sa.Boolean, nullable=False, server_default=FALSE),
        sa.Column("retry_below", sa.BigInteger),
        sa.Column("incomplete", sa.Text),
        postgresql_with={"fillfactor": "50"},
    )
    _partial("job_key", "job", "key is not null", "tenant", "key", unique=True)
    op.create_index("job_tenant", "job", ["tenant", "id"])
    _partial("job_deadline", "job", "deadline_at is not null and finished_at is null", "deadline_at")
    _partial("job_open", "job", "finished_at is null", "id")
    _partial("job_canceling", "job", "cancel_requested and finished_at is null", "id")
    _partial("job_retrying", "job", "retry_below is not null", "id")
    _partial("job_finished", "job", "finished_at is not null and archive is null", "finished_at")
    _partial("job_expires", "job", "expires_at is not null", "expires_at")
    _partial("job_left_out", "job", "finished_at is not null and not in_totals", "id")


def _parts_of_jobs() -> None:
    op.create_table(
        "total",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("completed", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("terminated", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("failed", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("unsure", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("canceled", sa.BigInteger, nullable=False, server_default=ZERO),
        postgresql_with={"fillfactor": "50"},
    )
    op.create_table(
        "job_label",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, primary_key=True),
        sa.Column("job", ID, sa.ForeignKey("job.id", ondelete="CASCADE"), primary_key=True),
    )
    op.create_index("job_label_job", "job_label", ["job"])
    op.create_table(
        "deleted",
        sa.Column("job", ID, primary_key=True, autoincrement=False),
        sa.Column("tenant", sa.Text),
    )


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
        sa.Column("fence", sa.BigInteger, nullable=False, server_default=ZERO),
        sa.Column("attempt", sa.Integer, nullable=False, server_default=ZERO),
        sa.Column("owner", sa.Text),
        sa.Column("lease_until", sa.Double),
        sa.Column("ready_at", sa.Double),
        sa.Column("item", sa.Text),
        sa.Column("checkpoint", sa.Text),
        sa.Column("outcome", sa.Text),
        sa.Column("found", sa.Integer),
        sa.Column("shown", sa.Integer),
        sa.Column("children", sa.Integer, nullable=False, server_default=ZERO),
        sa.Column("pending_children", sa.Integer, nullable=False, server_default=ZERO),
        sa.Column("first_child", sa.BigInteger),
        sa.Column("loop_children", sa.Integer, nullable=False, server_default=ZERO),
        sa.Column("loop_state", sa.Text),
        sa.Column("seat_limit", sa.Integer),
        sa.Column("seats", sa.Integer, nullable=False, server_default=ZERO),
        sa.Column("stop_on_error", sa.Boolean, nullable=False, server_default=FALSE),
        sa.Column("stopped", sa.Boolean, nullable=False, server_default=FALSE),
        sa.Column("reseating", sa.Boolean, nullable=False, server_default=FALSE),
    )
    op.create_index("session_path", "session", ["job", "path"], unique=True)
    _partial("session_ready", "session", "state = 0", "job", "domain", "id")
    _partial("session_leased", "session", "state = 1", "job", "children", "lease_until")
    _partial("session_busy", "session", "state = 1", "domain", "job")
    _partial("session_waiting", "session", "state = 2", "job")
    _partial("session_listed", "session", "state in (2, 5, 6, 7)", "job", "state", "path")
    _partial("session_delayed", "session", "state = 9", "ready_at")
    _partial("session_held", "session", "state = 10", "parent", "id")
    _partial("session_stopping", "session", "stopped and state = 2", "id")
    _partial("session_retriable", "session", "state in (5, 6, 8)", "job", "id")
    _partial("session_emptied", "session", "state = 2 and pending_children = 0", "job", "id")
    _partial("session_incomplete", "session", "found is not null and state = 4", "job")
    _partial("session_reseating", "session", "reseating and state = 2", "id")


def _children() -> None:
    op.create_table(
        "unborn",
        sa.Column("first", ID, primary_key=True, autoincrement=False),
        sa.Column("job", sa.BigInteger, nullable=False),
        sa.Column("parent", sa.BigInteger, nullable=False),
        sa.Column("idx", sa.Integer, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("items", sa.LargeBinary, nullable=False),
    )
    op.create_index("unborn_job", "unborn", ["job", "first"])
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


def _domains() -> None:
    op.create_table(
        "pace",
        sa.Column("domain", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("most", sa.Double),
        sa.Column("good", sa.Integer, nullable=False, server_default=ZERO),
        sa.Column("blocked_until", sa.Double, nullable=False, server_default=ZERO),
        sa.Column("delay_s", sa.Double, nullable=False, server_default=ZERO),
        sa.Column("last_start", sa.Double, nullable=False, server_default=ZERO),
        sa.Column("taken", sa.Text),
    )
    op.create_table(
        "job_pace",
        sa.Column("job", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("domain", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("last_start", sa.Double, nullable=False),
        sa.Column("last_page", sa.Double, nullable=False, server_default=ZERO),
    )
    op.create_table(
        "robots",
        sa.Column("origin", BYTEWISE, primary_key=True),
        sa.Column("state", sa.SmallInteger),
        sa.Column("packed", sa.LargeBinary),
        sa.Column("why", sa.Text, nullable=False, server_default=EMPTY),
        sa.Column("retry_after_s", sa.Double),
        sa.Column("opinions", sa.Integer, nullable=False, server_default=ZERO),
        sa.Column("expires_at", sa.Double, nullable=False, server_default=ZERO),
        sa.Column("fetching_by", sa.Text, nullable=False, server_default=EMPTY),
        sa.Column("fetching_until", sa.Double, nullable=False, server_default=ZERO),
    )
    op.create_index("robots_expires", "robots", ["expires_at"])


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
        "delivery",
        sa.Column("id", ID, primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("job", sa.BigInteger, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("state", sa.SmallInteger, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=ZERO),
        sa.Column("due_at", sa.Double, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("ended_at", sa.Double),
        sa.Column("status_code", sa.SmallInteger),
        sa.Column("error", sa.Text, nullable=False, server_default=EMPTY),
        sqlite_autoincrement=True,
    )
    _partial("delivery_due", "delivery", "state = 0", "due_at")
    _partial("delivery_waits", "delivery", "state = 0", "tenant", "due_at")
    _partial("delivery_dead", "delivery", "state = 2", "tenant", "id")
    op.create_index("delivery_tenant", "delivery", ["tenant", "id"])
    op.create_index("delivery_job", "delivery", ["job", "id"])
    op.create_index("delivery_ended", "delivery", ["ended_at"])
    op.create_table(
        "state",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )


def _access() -> None:
    op.create_table(
        "api_key",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("key_hash", sa.Text, nullable=False, unique=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("revoked_at", sa.Double),
        sa.Column("expires_at", sa.Double),
        sa.Column("used_at", sa.Double),
    )
    op.create_table(
        "allowance",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("level", sa.Double, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )


def _partial(name: str, table: str, where: str, *columns: str, unique: bool = False) -> None:
    rows = sa.text(where)
    op.create_index(name, table, columns, unique=unique, postgresql_where=rows, sqlite_where=rows)
