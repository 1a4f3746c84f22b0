"""The tables, as SQLAlchemy Core metadata. `migrations` makes them and their `indexes`; a test holds both equal.

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
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    text,
)

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
)

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
)

job_label = Table(
    "job_label",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, primary_key=True),
    Column("job", Id, ForeignKey("job.id", ondelete="CASCADE"), primary_key=True),
)

job_words = Table(
    "job_words",
    metadata,
    # By which jobs are looked up. Not in `job`: its rows are written with every group of outcomes.
    Column("job", Id, ForeignKey("job.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("host", Text, nullable=False),  # of its first page
    Column("words", Text, nullable=False),  # name, goals, address and labels, in lower case
)

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
