"""The tables, as SQLAlchemy Core metadata. `migrations` makes them; a test holds both equal.

Times are seconds since the epoch. JSON sits in text columns that only `codec` reads (see there). Some names stand for
terms that the code has given up (`unborn`, `allowance`, `seats`): during an upgrade two versions read these tables.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    or_,
    text,
)

from shoal.services.store.database.states import with_numbers

Id = BigInteger().with_variant(Integer(), "sqlite")  # there an `INTEGER PRIMARY KEY` is the row's own number
Bytewise = Text().with_variant(Text(collation="C"), "postgresql")
"""Text in byte order, which is SQLite's own: paths sort the same everywhere."""
_ZERO = text("0")
_FALSE = text("false")

metadata = MetaData()

counter = Table(
    "counter",
    metadata,
    Column("name", Text, primary_key=True),  # job or session
    Column("value", BigInteger, nullable=False),  # the last id given out; ids are never used twice
)

domain = Table(
    "domain",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("host", Text, nullable=False, unique=True),
)

job = Table(
    "job",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("tenant", Text, nullable=False),
    Column("key", Text),  # the caller's idempotency key
    Column("spec", Text, nullable=False),
    Column("priority", SmallInteger, nullable=False),
    Column("politeness", Text),  # the spec's, where it is not the default: partitions carry it
    Column("root", BigInteger, nullable=False),  # its root session
    Column("status", SmallInteger, nullable=False),
    Column("cancel_requested", Boolean, nullable=False, server_default=_FALSE),
    Column("deadline_at", Double),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("error", Text),
    # Counts of items; `running` is counted when it is asked for.
    Column("expected", BigInteger, nullable=False, server_default=text("1")),
    Column("completed", BigInteger, nullable=False, server_default=_ZERO),
    Column("terminated", BigInteger, nullable=False, server_default=_ZERO),
    Column("failed", BigInteger, nullable=False, server_default=_ZERO),
    Column("unsure", BigInteger, nullable=False, server_default=_ZERO),
    Column("canceled", BigInteger, nullable=False, server_default=_ZERO),
    # What its sessions cost.
    Column("model_calls", BigInteger, nullable=False, server_default=_ZERO),
    Column("prompt_tokens", BigInteger, nullable=False, server_default=_ZERO),
    Column("completion_tokens", BigInteger, nullable=False, server_default=_ZERO),
    Column("cached_tokens", BigInteger, nullable=False, server_default=_ZERO),
    Column("pages", BigInteger, nullable=False, server_default=_ZERO),
    Column("carried_over", BigInteger, nullable=False, server_default=_ZERO),  # items that were not read anew
    Column("concurrency", Integer),  # of its outermost loops, set by its owner while it ran; 0: no limit
    Column("expires_at", Double),  # when its results are archived and its rows dropped
    Column("token_limit", BigInteger),  # of all its sessions, set by its owner while it ran; 0: no limit
    Column("archive", Text),  # where in the artifact store its results lie, once its rows are dropped
    Column("in_totals", Boolean, nullable=False, server_default=_FALSE),  # `total` holds its counts of ended items
    Column("retry_below", BigInteger),  # of a retry that is not done: sessions below this id may still be reopened
    Column("incomplete", Text),  # of a job that is over: the sums of its sessions' `found` and `shown`
    Column("submitted_by", Text),  # name of the key or person; null: unknown, it was stored by a program without this
    Column("lineage", Text),  # the same for all runs of the same work; null: it was stored by a program without this
    # Updated once per group commit: room on the page keeps those updates off the indexes.
    postgresql_with={"fillfactor": "50"},
)
_with_key = text("key is not null")
Index(
    "job_key",
    job.c.tenant,
    job.c.key,
    unique=True,
    postgresql_where=_with_key,
    sqlite_where=_with_key,
)
Index("job_tenant", job.c.tenant, job.c.id)
_with_deadline = text("deadline_at is not null and finished_at is null")
Index("job_deadline", job.c.deadline_at, postgresql_where=_with_deadline, sqlite_where=_with_deadline)
_open = text("finished_at is null")
Index("job_open", job.c.id, postgresql_where=_open, sqlite_where=_open)
_canceling = text("cancel_requested and finished_at is null")
Index("job_canceling", job.c.id, postgresql_where=_canceling, sqlite_where=_canceling)
_retrying = text("retry_below is not null")
Index("job_retrying", job.c.id, postgresql_where=_retrying, sqlite_where=_retrying)
_kept = text("finished_at is not null and archive is null")
Index("job_finished", job.c.finished_at, postgresql_where=_kept, sqlite_where=_kept)
_expires = text("expires_at is not null")
Index("job_expires", job.c.expires_at, postgresql_where=_expires, sqlite_where=_expires)
_left_out = text("finished_at is not null and not in_totals")
Index("job_left_out", job.c.id, postgresql_where=_left_out, sqlite_where=_left_out)
_related = text("lineage is not null")
Index("job_lineage", job.c.lineage, job.c.id, postgresql_where=_related, sqlite_where=_related)
_doubtful = text("unsure > 0")
Index("job_unsure", job.c.id, postgresql_where=_doubtful, sqlite_where=_doubtful)

total = Table(
    "total",
    metadata,
    # Ended items of a tenant's jobs that are over (`job.in_totals`), so that no query sums up all jobs there ever were.
    Column("tenant", Text, primary_key=True),
    Column("completed", BigInteger, nullable=False, server_default=_ZERO),
    Column("terminated", BigInteger, nullable=False, server_default=_ZERO),
    Column("failed", BigInteger, nullable=False, server_default=_ZERO),
    Column("unsure", BigInteger, nullable=False, server_default=_ZERO),
    Column("canceled", BigInteger, nullable=False, server_default=_ZERO),
    # Updated by every commit in which jobs end: room on the page, as for jobs.
    postgresql_with={"fillfactor": "50"},
)

job_label = Table(
    "job_label",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, primary_key=True),
    Column("job", Id, ForeignKey("job.id", ondelete="CASCADE"), primary_key=True),
)
Index("job_label_job", job_label.c.job)

job_words = Table(
    "job_words",
    metadata,
    # By which jobs are looked up. Not in `job`: its rows are written with every group of outcomes.
    Column("job", Id, ForeignKey("job.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("host", Text, nullable=False),  # of its first page
    Column("words", Text, nullable=False),  # name, goals, address and labels, in lower case
)
Index("job_words_host", job_words.c.host, job_words.c.job)

deleted = Table(
    "deleted",
    metadata,
    # Jobs that their owners have deleted, and of which sessions, artifacts, events or messages are still to be removed.
    Column("job", Id, primary_key=True, autoincrement=False),
    Column("tenant", Text),  # null: deleted by a version that did not keep it
)

session = Table(
    "session",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("job", BigInteger, nullable=False),
    Column("parent", BigInteger),
    Column("depth", SmallInteger, nullable=False),
    Column("idx", Integer, nullable=False),  # position among its siblings, over all loops of the parent
    Column("path", Bytewise, nullable=False),  # the parent's path and 8 hex digits of idx: item order
    Column("domain", Integer, nullable=False),
    Column("state", SmallInteger, nullable=False),
    Column("fence", BigInteger, nullable=False, server_default=_ZERO),  # raised by every transition
    Column("attempt", Integer, nullable=False, server_default=_ZERO),
    Column("losses", Integer, nullable=False, server_default=_ZERO),  # attempts that ended with their worker or lease
    Column("owner", Text),
    Column("lease_until", Double),
    Column("width", SmallInteger),  # of a lease in a run of documents: how many of them are under way at once
    Column("ready_at", Double),
    Column("item", Text),
    Column("checkpoint", Text),
    Column("outcome", Text),  # of the last attempt
    # Of a session with a list of which less was given than there is.
    Column("found", Integer),  # records or items that were given; null: nothing is known to be missing
    Column("shown", Integer),  # how many the page says that there are; null: it does not say
    # Of a session that fanned out.
    Column("children", Integer, nullable=False, server_default=_ZERO),  # of all its loops
    Column("pending_children", Integer, nullable=False, server_default=_ZERO),  # not final yet
    Column("first_child", BigInteger),  # the children of its last loop have ids in a row from here
    Column("loop_children", Integer, nullable=False, server_default=_ZERO),  # how many those are
    Column("loop_state", Text),  # the storage state that its children start with
    Column("seat_limit", Integer),  # concurrency permits that there are
    Column("seats", Integer, nullable=False, server_default=_ZERO),  # permits in use: children neither held nor final
    Column("stop_on_error", Boolean, nullable=False, server_default=_FALSE),
    Column("stopped", Boolean, nullable=False, server_default=_FALSE),  # a child failed, its siblings were canceled
    Column("reseating", Boolean, nullable=False, server_default=_FALSE),  # children are still held back, or let go
)
Index("session_path", session.c.job, session.c.path, unique=True)


def _partial(name: str, where: str, *columns: Column[object]) -> None:
    condition = text(with_numbers(where))
    Index(name, *columns, postgresql_where=condition, sqlite_where=condition)


_partial("session_ready", "state = {QUEUED}", session.c.job, session.c.domain, session.c.id)
# Every commit counts the leased sessions and items of its jobs: from the index alone, without their rows.
_partial("session_leased", "state = {RUNNING}", session.c.job, session.c.children, session.c.lease_until)
_partial("session_busy", "state = {RUNNING}", session.c.domain, session.c.job)
_partial("session_waiting", "state = {WAITING}", session.c.job)
# Waiting, terminated, failed and unsure sessions are looked for among any number of others.
_partial(
    "session_listed",
    "state in ({WAITING}, {TERMINATED}, {FAILED}, {UNSURE})",
    session.c.job,
    session.c.state,
    session.c.path,
)
_partial("session_delayed", "state = {DELAYED}", session.c.ready_at)
_partial("session_held", "state = {HELD}", session.c.parent, session.c.id)
_partial("session_stopping", "stopped and state = {WAITING}", session.c.id)
# For a retry: what it opens, and parents that it has kept waiting.
_partial("session_retriable", "state in ({TERMINATED}, {FAILED}, {CANCELED})", session.c.job, session.c.id)
_partial("session_emptied", "state = {WAITING} and pending_children = 0", session.c.job, session.c.id)
_partial("session_incomplete", "found is not null and state = {COMPLETED}", session.c.job)
_partial("session_reseating", "reseating and state = {WAITING}", session.c.id)

kept_page = Table(
    "kept_page",
    metadata,
    # Which item of a job has the record of a page that a later run may carry over.
    Column("job", BigInteger, primary_key=True, autoincrement=False),
    Column("page", Text, primary_key=True),  # a digest of the item's value
    Column("session", BigInteger, nullable=False),
)

pending_children = Table(
    "unborn",
    metadata,
    # Children of a loop that are not rows yet, some hundred in each row here.
    Column("first", Id, primary_key=True, autoincrement=False),  # id of the first of them; theirs are in a row
    Column("job", BigInteger, nullable=False),
    Column("parent", BigInteger, nullable=False),
    Column("idx", Integer, nullable=False),  # of the first of them
    Column("n", Integer, nullable=False),  # how many they are
    Column("host", Text, nullable=False),  # that items begin on which are no links; "" for the parent's domain
    Column("items", LargeBinary, nullable=False),  # zlib-compressed JSON
)
Index("unborn_job", pending_children.c.job, pending_children.c.first)

staged = Table(
    "staged",
    metadata,
    # Items that a running session has found for its loop so far; they become `pending` when the loop is opened.
    Column("session", BigInteger, primary_key=True, autoincrement=False),
    Column("fence", BigInteger, primary_key=True, autoincrement=False),  # of the attempt that found them
    Column("at", Integer, primary_key=True, autoincrement=False),  # index of the first of them in the loop
    Column("job", BigInteger, nullable=False),
    Column("n", Integer, nullable=False),  # how many they are
    Column("items", LargeBinary, nullable=False),  # zlib-compressed JSON
)
Index("staged_job", staged.c.job)

pace = Table(
    "pace",
    metadata,
    # How gently a domain is treated by all dispatchers; without a row it was never asked for anything.
    Column("domain", Integer, primary_key=True, autoincrement=False),
    Column("most", Double),  # sessions at once, where it was slowed down
    Column("good", Integer, nullable=False, server_default=_ZERO),  # good answers in a row since then
    Column("blocked_until", Double, nullable=False, server_default=_ZERO),  # it asked for a pause
    Column("delay_s", Double, nullable=False, server_default=_ZERO),  # crawl-delay of its robots.txt
    Column("last_start", Double, nullable=False, server_default=_ZERO),  # of a session, where it has a crawl-delay
    Column("taken", Text),  # when pages are opened that keep its crawl-delay: spans of time as JSON
    # What an operator has set; null: nothing.
    Column("own_most", Integer),  # sessions at once, in place of the setting
    Column("own_delay_s", Double),  # between session starts
    Column("own_pause_until", Double),  # no session starts before
)
_limited = or_(pace.c.own_most.is_not(None), pace.c.own_delay_s.is_not(None), pace.c.own_pause_until.is_not(None))
# Dispatchers ask every two seconds what is set: next to nothing, in a table of every site that was ever asked.
Index("pace_limited", pace.c.domain, postgresql_where=_limited, sqlite_where=_limited)

job_pace = Table(
    "job_pace",
    metadata,
    # When a job that asks for a delay last began a session on a domain, and opened a page there.
    Column("job", BigInteger, primary_key=True, autoincrement=False),
    Column("domain", Integer, primary_key=True, autoincrement=False),
    Column("last_start", Double, nullable=False),
    Column("last_page", Double, nullable=False, server_default=_ZERO),  # may lie ahead
)

token_bucket = Table(
    "allowance",
    metadata,
    # The requests that a tenant may make at once, at any gateway; without a row it has made none yet.
    Column("tenant", Text, primary_key=True),
    Column("level", Double, nullable=False),  # less than 0: requests to be made up for
    Column("at", Double, nullable=False),  # when it stood so
)

robots = Table(
    "robots",
    metadata,
    # What each origin said of its robots.txt, for all workers, and who is asking it.
    Column("origin", Bytewise, primary_key=True),  # in byte order: rows are always locked in the same order
    Column("state", SmallInteger),  # a RobotsState; null: nothing is known yet
    Column("packed", LargeBinary),  # the text, zlib-compressed UTF-8
    Column("why", Text, nullable=False, server_default=text("''")),  # it could not be read
    Column("retry_after_s", Double),
    Column("opinions", Integer, nullable=False, server_default=_ZERO),  # workers that found it unreachable
    Column("expires_at", Double, nullable=False, server_default=_ZERO),
    Column("fetching_by", Text, nullable=False, server_default=text("''")),  # the worker that was sent last
    Column("fetching_until", Double, nullable=False, server_default=_ZERO),  # after that it counts as dead
)
Index("robots_expires", robots.c.expires_at)

field_glossary = Table(
    "field_glossary",
    metadata,
    # What a model said that pages may call the fields of a schema, for all jobs, and which session is asking one.
    Column("key", Bytewise, primary_key=True),  # hash of schema, model and question; rows are locked in this order
    Column("found", Text),  # a FieldGlossary; null: nothing is known yet
    Column("expires_at", Double, nullable=False, server_default=_ZERO),
    Column("asking_by", BigInteger, nullable=False, server_default=_ZERO),  # the session that was told to ask last
    Column("asking_until", Double, nullable=False, server_default=_ZERO),  # after that it counts as dead
)
Index("field_glossary_expires", field_glossary.c.expires_at)

session_detail = Table(
    "session_detail",
    metadata,
    Column("session", Id, primary_key=True, autoincrement=False),
    Column("fence", BigInteger, primary_key=True, autoincrement=False),  # of the attempt's lease
    Column("tasks", Text, nullable=False),
)

artifact = Table(
    "artifact",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("job", BigInteger, nullable=False),
    Column("session", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("name", Text),  # of a download: how the site calls the file
)
Index("artifact_job", artifact.c.job, artifact.c.session)
Index("artifact_key", artifact.c.key)

event = Table(
    "event",
    metadata,
    Column("seq", Id, primary_key=True),
    Column("job", BigInteger, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("at", Double, nullable=False),
    # Without this SQLite would give the numbers of deleted rows again, and a feed would miss them.
    sqlite_autoincrement=True,
)
Index("event_job", event.c.job, event.c.seq)
Index("event_tenant", event.c.tenant, event.c.seq)

delivery = Table(
    "delivery",
    metadata,
    # The outbox of webhooks: written with the change that it tells of, sent by `shoal.services.webhooks`.
    Column("id", Id, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("job", BigInteger, nullable=False),
    Column("event", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", SmallInteger, nullable=False),  # a DeliveryState
    Column("attempts", Integer, nullable=False, server_default=_ZERO),  # begun, the one under way included
    Column("due_at", Double, nullable=False),  # of the next attempt; while one is under way, when it counts as lost
    Column("created_at", Double, nullable=False),
    Column("ended_at", Double),
    Column("status_code", SmallInteger),  # of the last answer
    Column("error", Text, nullable=False, server_default=text("''")),  # of the last attempt
    Column("channel", Text, nullable=False, server_default=text("''")),  # "": a webhook; else how people are told
    Column("about", Text),  # the work that a notice is about; messages about the same become one
    # A receiver knows deliveries by their number: it must never come again.
    sqlite_autoincrement=True,
)
_of_people = text("about is not null")
_waits, _is_dead = text(with_numbers("state = {DELIVERY_WAITING}")), text(with_numbers("state = {DELIVERY_DEAD}"))
Index("delivery_due", delivery.c.due_at, postgresql_where=_waits, sqlite_where=_waits)
# For the claim, which goes from tenant to tenant.
Index("delivery_waits", delivery.c.tenant, delivery.c.due_at, postgresql_where=_waits, sqlite_where=_waits)
# For the notice that still waits, and for the last one.
Index("delivery_about", delivery.c.about, postgresql_where=_of_people, sqlite_where=_of_people)
Index("delivery_dead", delivery.c.tenant, delivery.c.id, postgresql_where=_is_dead, sqlite_where=_is_dead)
Index("delivery_tenant", delivery.c.tenant, delivery.c.id)
Index("delivery_job", delivery.c.job, delivery.c.id)
Index("delivery_ended", delivery.c.ended_at)

sink = Table(
    "sink",
    metadata,
    # The outbox of sinks: where the records of ended jobs are still to be written, by `shoal.services.sinks`.
    Column("job", BigInteger, primary_key=True, autoincrement=False),
    Column("nth", Integer, primary_key=True, autoincrement=False),  # place among the job's sinks, from 0
    Column("tenant", Text, nullable=False),
    Column("place", Text, nullable=False),  # where it writes to: one writer at a time
    Column("state", Text, nullable=False),  # a SinkState
    Column("attempts", Integer, nullable=False, server_default=_ZERO),  # begun, the one under way included
    Column("failures", Integer, nullable=False, server_default=_ZERO),  # attempts that failed since it last came on
    Column("leased", Boolean, nullable=False, server_default=_FALSE),  # an attempt is under way
    Column("cursor", Text, nullable=False, server_default=text("''")),  # how far it came
    Column("written", BigInteger, nullable=False, server_default=_ZERO),  # records that were taken
    Column("due_at", Double, nullable=False),  # of the next attempt; while one is under way, when it counts as lost
    Column("created_at", Double, nullable=False),
    Column("ended_at", Double),
    Column("error", Text, nullable=False, server_default=text("''")),  # of the last attempt
)
_to_write, _being_written = text("state = 'waiting'"), text("leased")
Index("sink_due", sink.c.due_at, postgresql_where=_to_write, sqlite_where=_to_write)
Index(
    "sink_leased",
    sink.c.tenant,
    sink.c.place,
    unique=True,
    postgresql_where=_being_written,
    sqlite_where=_being_written,
)
_given_up = text("state = 'failed'")
Index("sink_failed", sink.c.tenant, sink.c.job, postgresql_where=_given_up, sqlite_where=_given_up)
Index("sink_place", sink.c.tenant, sink.c.place, sink.c.job)

state = Table(
    "state",
    metadata,
    Column("name", Text, primary_key=True),
    Column("data", Text, nullable=False),
    Column("at", Double, nullable=False),
)

api_key = Table(
    "api_key",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("key_hash", Text, nullable=False, unique=True),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
    Column("expires_at", Double),
    Column("used_at", Double),
)

ended_login = Table(
    "ended_login",
    metadata,
    # Logins of the dashboard that ended before their time, by what is random in their cookie.
    Column("login", Text, primary_key=True),
    Column("until", Double, nullable=False),
)

workflow = Table(
    "workflow",
    metadata,
    Column("id", Id, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("name", Bytewise, nullable=False),
    # Where it applies: host, and hashes of the goal and of the record's schema.
    Column("site", Text, nullable=False),
    Column("goal", Text, nullable=False),
    Column("record_schema", Text, nullable=False),
    Column("versions", Integer, nullable=False),  # the last number given out; numbers are never used twice
    Column("created_at", Double, nullable=False),
    Column("changed_at", Double, nullable=False),
)
Index("workflow_name", workflow.c.tenant, workflow.c.name, unique=True)
Index("workflow_scope", workflow.c.tenant, workflow.c.site, workflow.c.goal, workflow.c.record_schema)

workflow_version = Table(
    "workflow_version",
    metadata,
    Column("workflow", BigInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("state", Text, nullable=False),  # see `shoal.agent.workflows.format.version`
    Column("state_at", Double, nullable=False),
    Column("why", Text, nullable=False),
    Column("body", Text, nullable=False),  # JSON of the format; its state is the column's
    Column("created_at", Double, nullable=False),
)

workflow_figure = Table(
    "workflow_figure",
    metadata,
    Column("workflow", BigInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),  # replays, misses, audits, …
    Column("value", Double, nullable=False),
)

workflow_repair = Table(
    "workflow_repair",
    metadata,
    Column("workflow", BigInteger, primary_key=True, autoincrement=False),
    Column("signature", Text, primary_key=True),  # of the pages that are repaired for
    Column("owner", Text, nullable=False),
    Column("until", Double, nullable=False),  # the end of the lease
    Column("day", Integer, nullable=False),  # since the epoch, on which `begun` counts
    Column("begun", Integer, nullable=False),
)

learning = Table(
    "learning",
    metadata,
    # How far a loop has learned from its first items; loops that do not learn have no row.
    Column("loop", BigInteger, primary_key=True, autoincrement=False),  # id of the session that opened it
    Column("job", BigInteger, nullable=False),
    Column("site", Text, nullable=False),  # what its workflow applies to, as in `workflow`
    Column("goal", Text, nullable=False),
    Column("record_schema", Text, nullable=False),
    Column("phase", Text, nullable=False),  # see `shoal.agent.workflows.judging.phase`
    Column("gated", Boolean, nullable=False),  # its held children stay so until something is decided
    Column("open", Boolean, nullable=False),  # something may still be decided
    Column("due", Boolean, nullable=False),  # something is to be decided, though it is not gated
    Column("items", Integer, nullable=False),  # of the loop
    Column("why", Text, nullable=False),  # why it is in its phase, in words
    Column("workflow", Text, nullable=False),  # name; "" where there is none yet
    Column("version", Integer, nullable=False),
    Column("body", Text),  # JSON of the workflow with this version, as it was when it was decided on
    Column("rounds", Integer, nullable=False),  # how often it has begun to learn anew
    Column("figures", Text, nullable=False),  # JSON: counts of its items by name, since it began
    Column("before", Text, nullable=False),  # the same as they were when the phase began
    Column("lessons", Text, nullable=False),  # JSON: ids of the last sessions that a model worked out
    Column("batch", Text, nullable=False, server_default=text("'{}'")),  # JSON: see `agent/workflows/judging/batch.py`
    Column("owner", Text, nullable=False),  # the dispatcher that decides
    Column("until", Double, nullable=False),  # the end of its lease
)
Index("learning_job", learning.c.job)
Index("learning_open", learning.c.loop, postgresql_where=text("open"), sqlite_where=text("open"))

learned_record = Table(
    "learned_record",
    metadata,
    Column("job", BigInteger, primary_key=True, autoincrement=False),
    Column("loop", BigInteger, primary_key=True, autoincrement=False),
    Column("key", Text, primary_key=True),  # hash of a record: no two items of a loop should have the same
    Column("session", BigInteger, nullable=False),
    Column("sure", Boolean, nullable=False),  # the loop's baseline read or confirmed it
)

audit = Table(
    "audit",
    metadata,
    # Who changed what through the gateway. Entries are never changed.
    Column("id", Id, primary_key=True),
    Column("at", Double, nullable=False),
    Column("tenant", Text, nullable=False),  # of who made the change
    Column("actor", Text, nullable=False),  # name of the key
    Column("action", Text, nullable=False),  # method and route
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("request", Text, nullable=False),  # its id
    sqlite_autoincrement=True,
)
Index("audit_tenant", audit.c.tenant, audit.c.id)
