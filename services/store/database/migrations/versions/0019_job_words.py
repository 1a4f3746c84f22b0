"""The words of each job, for looking jobs up by text and by site. Jobs that are there already get theirs.

Revision: 0019, after 0018.
"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_AT_ONCE = 500
_MOST = 4_000  # characters, as `shoal.services.store.jobs.submission` has it at this revision


def upgrade() -> None:
    op.create_table(
        "job_words",
        sa.Column("job", ID, sa.ForeignKey("job.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
    )
    op.create_index("job_words_host", "job_words", ["host", "job"])
    connection = op.get_bind()
    last = 0
    page = sa.text("select id, spec from job where id > :last order by id limit :n")
    insert = sa.text("insert into job_words (job, host, words) values (:job, :host, :words)")
    while rows := connection.execute(page, {"last": last, "n": _AT_ONCE}).all():
        connection.execute(insert, [_words(row.id, json.loads(row.spec)) for row in rows])
        last = rows[-1].id


def downgrade() -> None:
    op.drop_table("job_words")


def _words(job: int, spec: dict[str, object]) -> dict[str, object]:
    url = str(spec["url"])
    extract = spec.get("extract")
    goal = extract.get("goal") if isinstance(extract, dict) else None
    parts = [str(part) for part in (spec.get("goal"), goal, url) if part]
    labels = spec.get("labels")
    parts += [f"{name}:{value}" for name, value in (labels.items() if isinstance(labels, dict) else ())]
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
    return {"job": job, "host": host.lower(), "words": "\n".join(parts).lower()[:_MOST]}
