-- Queries of both databases, written as PostgreSQL reads them, with SQLite's hints. The package's docstring says what
-- each database leaves out, and what `in many`, `values_of` and `rows` become.
-- PostgreSQL's order of locks, so that no two transactions wait for each other: schedules by id, jobs by id, sessions by
-- id, totals by tenant, the feed last. SQLite has one writer at a time, so nothing needs a lock of its own.

-- name: begin_loop
-- Makes a session that waits the parent of :n new children.
update session set children = children + :n, pending_children = :n, first_child = :first, loop_children = :n,
  loop_state = :state, seat_limit = :seat_limit, seats = :seats, stop_on_error = :stop_on_error, stopped = false,
  reseating = false
where id = :id

-- name: admit_person
-- Makes or renews the key of a person who has logged in elsewhere; gives no row where that person is shut out.
insert into api_key (name, tenant, scopes, key_hash, created_at, expires_at)
values (:name, :tenant, :scopes, :key_hash, :now, :expires_at)
on conflict (key_hash) do update set name = excluded.name, tenant = excluded.tenant, scopes = excluded.scopes,
  expires_at = excluded.expires_at
where api_key.revoked_at is null
returning *

-- name: begin_learning
-- Notes that a loop learns; an earlier loop of the same session learns no more.
insert into learning (loop, job, site, goal, record_schema, phase, gated, open, due, items, why, workflow, version, body,
  rounds, figures, before, lessons, owner, until)
values (:loop, :job, :site, :goal, :record_schema, :phase, true, true, false, :items, :why, :workflow, :version, :body,
  0, '{}', '{}', '[]', '', 0)
on conflict (loop) do update set site = excluded.site, goal = excluded.goal, record_schema = excluded.record_schema,
  phase = excluded.phase, gated = true, open = true, due = false, items = excluded.items, why = excluded.why,
  workflow = excluded.workflow, version = excluded.version, body = excluded.body, rounds = 0, figures = '{}',
  before = '{}', lessons = '[]', batch = '{}', owner = '', until = 0

-- name: learning_of
-- How far some loops have learned.
select loop, job, site, goal, record_schema, phase, gated, open, due, items, why, workflow, version, body, rounds,
  figures, before, lessons, batch, owner, until
from learning where loop in many(:ids, bigint)

-- name: learned_records
-- The items of a loop that have certain records.
select key, session, sure from learned_record where job = :job and loop = :loop and key in many(:keys, text)

-- name: keep_learned_record
-- Notes which item of a loop has a record.
insert into learned_record (job, loop, key, session, sure) values (:job, :loop, :key, :session, :sure)
on conflict (job, loop, key) do update set session = excluded.session, sure = excluded.sure

-- name: drop_learned_records
-- Forgets records of the loops of a job, some at a time.
delete from learned_record where job = :job and (loop, key) in (
  select loop, key from learned_record where job = :job order by loop, key limit :n)

-- name: forget_learned_records
-- Forgets the records of a loop: its session opens another one.
delete from learned_record where job = :job and loop = :loop

-- name: ended_items
-- Some items of a loop as they stand, with what their last attempt gave.
select id, state, item, outcome from session where id in many(:ids, bigint)

-- name: learning_of_job
-- How far the loops of a job have learned.
select loop, phase, gated, items, why, workflow, version, rounds, figures from learning where job = :job order by loop

-- name: learning_figures
-- What items came to in those of some loops that learn, or did.
select loop, figures from learning where loop in many(:ids, bigint)

-- name: lock_version
-- Finds the workflow that has a version; no other transaction changes its versions until this one ends.
select w.id from workflow w join workflow_version v on v.workflow = w.id and v.number = :number
where w.tenant = :tenant and w.name = :name for update of w

-- name: add_figures
-- Adds to the counts of a version.
insert into workflow_figure (workflow, number, name, value)
rows(workflow bigint, number integer, name text, value double precision order by name)
on conflict (workflow, number, name) do update set value = workflow_figure.value + excluded.value

-- name: learning_running
-- What items came to in the loops of which something may still be decided.
select figures from learning indexed by learning_open where open

-- name: learning_jobs
-- Those of some jobs with a loop of which something may still be decided, and whether a workflow does its items.
select job, max(case when phase = 'replay' then 1 else 0 end) as replays
from learning where job in many(:ids, bigint) and open group by job

-- name: learning_due
-- Loops of which something is to be decided, and that no dispatcher decides on. Of a loop that is over, it is decided what
-- becomes of a version that was compared up to its last item.
select l.loop, l.job from learning l indexed by learning_open join session s on s.id = l.loop
where l.open and l.until <= :now and ((l.phase = 'shadow' and not l.gated)
  or (s.state = {WAITING} and not s.stopped and (l.due or (l.gated and s.seats = 0))))

-- name: lease_learning
-- Makes one dispatcher the one that decides.
update learning set owner = :owner, until = :until where loop = :loop

-- name: note_learning
-- Writes what items of a loop came to.
update learning set figures = :figures, lessons = :lessons, batch = :batch, due = :due where loop = :loop

-- name: write_learning
-- Writes what was decided.
update learning set phase = :phase, gated = :gated, open = :open, due = false, why = :why, workflow = :workflow,
  version = :version, body = :body, rounds = :rounds, figures = :figures, before = :before, lessons = :lessons, batch = :batch,
  owner = '', until = 0
where loop = :loop

-- name: learning_is_off
-- Has a model do the items of a loop from now on, of which nothing is decided any more.
update learning set phase = 'off', why = :why where loop = :loop and not open

-- name: end_login
-- Keeps that a login ended before its time. It may be said twice.
insert into ended_login (login, until) values (:login, :until) on conflict (login) do nothing

-- name: end_learning
-- Some loops are over: of them it is decided only what becomes of a version that was compared.
update learning set open = (open and phase = 'shadow'), gated = false where loop in many(:ids, bigint)

-- name: end_learning_in
-- Nothing is decided any more of the loops of jobs that are over, save what becomes of a version that was compared. What
-- they hold back stays so: a retry lets it go.
update learning set open = false
where job in many(:jobs, bigint) and open and (gated or phase <> 'shadow' or job in many(:canceled, bigint))

-- name: end_learning_of
-- Nothing is decided any more of the loops of a job that hold items back.
update learning set open = false, gated = false, phase = 'off', why = :why where job = :job and gated

-- name: doubtful
-- Completed items of a loop whose outcome holds a text, the last ones first, from below an id on.
select id, outcome from session where id >= :first and id < :below and parent = :loop and children = 0
  and state = {COMPLETED} and outcome like :holds
order by id desc limit :n

-- name: evidence_keys
-- Where the evidence of some sessions lies.
select session, key from artifact where job = :job and session in many(:ids, bigint) and kind = 'evidence'
order by session

-- name: kept_pages
-- Where pages lie that sessions of a tenant have kept, and the evidence of these sessions.
select p.id, p.key, e.key as evidence from artifact p
join artifact e on e.job = p.job and e.session = p.session and e.kind = 'evidence'
where p.id in many(:ids, text) and p.tenant = :tenant and p.kind = 'snapshot' order by p.created_at desc, p.id limit :n

-- name: stage_items
-- Keeps a part of the items that a session has found for its loop, once.
insert into staged (session, fence, at, job, n, items) values (:session, :fence, :at, :job, :n, :items)
on conflict (session, fence, at) do nothing

-- name: drop_stale_items
-- Forgets what earlier attempts of a session have found for a loop.
delete from staged where session = :session and fence < :fence

-- name: staged_items
-- How many items an attempt has found for its loop, beside the first.
select coalesce(sum(n), 0) from staged where session = :session and fence = :fence

-- name: keep_items
-- Makes what an attempt has found the children to be of its loop, which begins with the ids from :first on.
insert into unborn (first, job, parent, idx, n, host, items)
select :first + at, job, session, :idx + at, n, :host, items from staged where session = :session and fence = :fence

-- name: drop_items
-- Forgets what a session has found for its loop.
delete from staged where session = :session

-- name: pending_jobs
-- The jobs that have children to be stored, save those that are being ended.
select u.job from (select job from unborn group by job) as u join job j on j.id = u.job
where not j.cancel_requested and (j.deadline_at is null or j.deadline_at > :now)

-- name: pending_part
-- A part of a loop that is not stored yet.
select first, job, parent, idx, n, host, items from unborn where first = :first

-- name: pending_of
-- The first parts of a job's loops, or of one of them, that are not stored yet.
select first from unborn where job = :job and parent = coalesce(cast(:parent as bigint), parent) order by first limit :n

-- name: take_pending
-- Takes a part of a loop out, to store its children in the same transaction.
delete from unborn where first = :first returning first

-- name: store_loop_counts
-- Writes what is left of a loop after some of its children ended; a finished loop makes its parent ready again.
update session set pending_children = :pending, seats = :seats, stopped = :stopped, state = :state,
  fence = fence + :raised
where id = :id

-- name: less_pending
-- Takes ended children off a loop.
update session set pending_children = pending_children - :n where id = :id and state = {WAITING}

-- name: span
-- A loop, and where its children are: ids in a row, unless it had others before.
select id, job, stopped, case when children = loop_children then first_child else id + 1 end as first,
  first_child + loop_children - 1 as last
from session where id = :id

-- name: held_in
-- Some held children of a loop.
select id from session where state = {HELD} and parent = :parent and children = 0 order by id limit :n

-- name: delayed_in
-- Some children of a loop that wait for another try: there are few delayed sessions at a time.
select id from session where state = {DELAYED} and parent = :parent and children = 0 limit :n

-- name: ready_of
-- Some ready sessions of a job.
select id from session where state = {QUEUED} and job = :job order by domain, id limit :n

-- name: delayed_of
-- Some delayed sessions of a job, from the index of all that are delayed.
select id from session where state = {DELAYED} and job + 0 = :job limit :n

-- name: waiting_of
-- Some sessions of a job that wait for their children, its root last. Not in the order of the table itself, which
-- would be read from its end.
select id from session where state = {WAITING} and job = :job order by id + 0 desc limit :n

-- name: write_job
-- Writes a job's counters, costs and status; the caller holds its lock and did the sums.
update job set status = :status, started_at = :started_at, finished_at = :finished_at, error = :error,
  cancel_requested = :cancel_requested, deadline_at = :deadline_at, concurrency = :concurrency,
  expires_at = :expires_at, in_totals = :in_totals, retry_below = :retry_below,
  incomplete = :incomplete,
  expected = :expected, completed = :completed, terminated = :terminated, failed = :failed, unsure = :unsure,
  canceled = :canceled, model_calls = :model_calls, prompt_tokens = :prompt_tokens,
  completion_tokens = :completion_tokens, cached_tokens = :cached_tokens, pages = :pages,
  carried_over = :carried_over
where id = :id

-- name: reopen_parent
-- Lets a parent wait for its reopened children, or queues it again when there are none.
update session set state = :state, fence = fence + 1, attempt = 0, losses = 0, pending_children = :pending,
  seats = :seats, stopped = false, ready_at = null
where id = :id

-- name: session_to_reopen
-- A session with what settling it, or trying it again, needs; its job is locked.
select id, job, parent, domain, state, children, checkpoint, outcome from session where id = :id

-- name: resolve_as_done
-- Ends an unsure session: what it may have done was done.
update session set state = {COMPLETED}, fence = fence + 1, outcome = :outcome,
  checkpoint = case when children > 0 then checkpoint end
where id = :id

-- name: reopen_session
-- Queues a session again that was over, with fresh attempts, from a checkpoint.
update session set state = :state, fence = fence + 1, attempt = 0, losses = 0, ready_at = null,
  checkpoint = :checkpoint
where id = :id

-- name: reseat
-- Changes how many children of a loop may be neither held nor final, and whether some are still to be held or let go.
update session set seat_limit = :seat_limit, seats = :seats, reseating = :reseating where id = :id

-- name: set_seats
-- Changes how many children of a session may be neither held nor final.
update session set seat_limit = :seat_limit, seats = :seats where id = :id

-- name: partitions
-- Walks the ready index from partition to partition, two look-ups each, and gives the lowest id of every partition. Not one look-up
-- for (job, domain) > (...): SQLite would use the job alone, and step over all ready sessions of partitions before.
with recursive queue_partition (job, domain, id) as (
  select * from (select job, domain, id from session where state = {QUEUED} order by job, domain, id limit 1) as first_partition
  union all
  select s.job, s.domain, s.id from queue_partition l join session s on s.id = coalesce(
    (select n.id from session n where n.state = {QUEUED} and n.job = l.job and n.domain > l.domain
      order by n.domain, n.id limit 1),
    (select n.id from session n where n.state = {QUEUED} and n.job > l.job order by n.job, n.domain, n.id limit 1)))
select l.job, l.domain, l.id, j.tenant, j.priority, j.politeness, d.host
from queue_partition l join job j on j.id = l.job join domain d on d.id = l.domain
where j.status in ({QUEUED}, {RUNNING}) and not j.cancel_requested and (j.deadline_at is null or j.deadline_at > :now)

-- name: last_event
-- The number of the newest event; 0 without any.
select coalesce(max(seq), 0) from event

-- name: events_after
-- The events of all jobs after one of them, without what they tell.
select seq, job, name from event where seq > :after order by seq limit :n

-- name: write_pace
-- How a domain is to be treated from now on.
update pace set most = :most, good = :good, blocked_until = :blocked_until, delay_s = :delay_s,
  last_start = :last_start
where domain = :domain

-- name: write_site_limits
-- What an operator has set for a site.
update pace set own_most = :own_most, own_delay_s = :own_delay_s, own_pause_until = :own_pause_until
where domain = :domain

-- name: site_limits
-- Sites for which an operator has set something, pauses that are over too. In the words of their index.
select domain, own_most, own_delay_s, own_pause_until from pace
where own_most is not null or own_delay_s is not null or own_pause_until is not null

-- name: pull_back_retries
-- What waits for its next try waits no longer than it was told, by a clock that was set back :by seconds.
update session set ready_at = case when ready_at - :by > :now then ready_at - :by else :now end
where state = {DELAYED} and ready_at > :now

-- name: pull_back_paces
-- The same of domains that asked for a pause or a delay.
update pace set
  blocked_until = case when blocked_until - :by > :now then blocked_until - :by
    when blocked_until > :now then :now else blocked_until end,
  last_start = case when last_start > :now then :now else last_start end
where blocked_until > :now or last_start > :now

-- name: pull_back_site_pauses
-- The same of sites that an operator has paused for some time.
update pace set own_pause_until = case when own_pause_until - :by > :now then own_pause_until - :by else :now end
where own_pause_until > :now and own_pause_until < :forever

-- name: pull_back_job_paces
-- The same of jobs that keep a delay.
update job_pace set last_start = :now where last_start > :now

-- name: pull_back_sinks
-- The same of sinks.
update sink set due_at = case when due_at - :by > :now then due_at - :by else :now end
where state = 'waiting' and due_at > :now

-- name: pull_back_deliveries
-- The same of webhook messages that are sent again, and of those under way that may be lost.
update delivery set due_at = case when due_at - :by > :now then due_at - :by else :now end
where state = {DELIVERY_WAITING} and due_at > :now

-- name: put_pages
-- When pages of a domain are opened that keep its crawl-delay.
update pace set taken = :taken where domain = :domain

-- name: put_job_page
-- When the last page of a job on a domain is opened that has its place.
insert into job_pace (job, domain, last_start, last_page) values (:job, :domain, 0, :at)
on conflict (job, domain) do update set last_page = excluded.last_page

-- name: put_job_pace
-- Notes that a job which asks for a delay has begun a session on a domain.
insert into job_pace (job, domain, last_start) values (:job, :domain, :at)
on conflict (job, domain) do update set last_start = excluded.last_start

-- name: write_robots
-- What is known of an origin's robots.txt from now on.
update robots set state = :state, packed = :packed, why = :why, retry_after_s = :retry_after_s, opinions = :opinions,
  expires_at = :expires_at, fetching_by = :fetching_by, fetching_until = :fetching_until
where origin = :origin

-- name: write_glossary
-- What is known of a schema's field glossary from now on.
update field_glossary set found = :found, expires_at = :expires_at, asking_by = :asking_by, asking_until = :asking_until
where key = :key

-- name: due
-- Whether a delayed session's time has come.
select 1 from session where state = {DELAYED} and ready_at <= :now limit 1

-- name: ready_count
-- How many sessions of jobs that may run are ready, counted up to :most.
select count(*) from (
  select 1 from session s join job j on j.id = s.job
  where s.state = {QUEUED} and j.status in ({QUEUED}, {RUNNING}) and not j.cancel_requested limit :most) as found

-- name: next_ready
-- When the next delayed session of a job that may run becomes ready.
select min(s.ready_at) from session s join job j on j.id = s.job
where s.state = {DELAYED} and j.status in ({QUEUED}, {RUNNING}) and not j.cancel_requested

-- name: expired
-- Sessions whose lease ran out.
select id, job from session where state = {RUNNING} and lease_until <= :now order by id

-- name: owned
-- Sessions that one owner holds.
select id, job from session where state = {RUNNING} and owner = :owner order by id

-- name: past_deadline
-- Jobs whose deadline passed before they were over.
select id from job where deadline_at is not null and finished_at is null and deadline_at <= :now order by id

-- name: put_state
-- Keeps a snapshot under its name.
insert into state (name, data, at) values (:name, :data, :at)
on conflict (name) do update set data = excluded.data, at = excluded.at

-- name: add_state
-- Keeps a snapshot under a name that none has; gives its name where it did.
insert into state (name, data, at) values (:name, :data, :at) on conflict (name) do nothing returning name

-- name: add_token_bucket
-- Makes the row of a tenant that asks for the first time.
insert into allowance (tenant, level, at) values (:tenant, :level, :at) on conflict (tenant) do nothing

-- name: set_token_bucket
-- Keeps what a tenant has left.
update allowance set level = :level, at = :at where tenant = :tenant

-- name: open_by_tenant
-- Sessions that are not final, by tenant and state, from the partial indexes.
select j.tenant, s.state, j.status, sum(s.n) as n from (
  select job, {QUEUED} as state, count(*) as n from session where state = {QUEUED} group by job
  union all select job, {RUNNING}, count(*) from session where state = {RUNNING} group by job
  union all select job, {WAITING}, count(*) from session where state = {WAITING} group by job
  union all select job, {DELAYED}, count(*) from session where state = {DELAYED} group by job
  union all select job, {HELD}, count(*) from session where state = {HELD} group by job
  union all select job, 10, sum(n) from unborn group by job) as s
join job j on j.id = s.job group by j.tenant, s.state, j.status

-- name: unclaimable
-- Queued sessions that cannot be claimed yet, of jobs that are not paused: `delayed` and `held`, and those of the latter
-- that wait for what their loop learns.
select coalesce(sum(case when s.state = {DELAYED} then s.n end), 0) as delayed,
  coalesce(sum(case when s.state = {HELD} then s.n end), 0) as held,
  (select count(*) from learning l indexed by learning_open join session c indexed by session_held on c.parent = l.loop
    join job o on o.id = l.job where l.open and l.gated and c.state = {HELD} and o.status <> {PAUSED})
  + (select coalesce(sum(u.n), 0) from learning l indexed by learning_open join unborn u on u.job = l.job
    join job o on o.id = l.job where l.open and l.gated and u.parent = l.loop and o.status <> {PAUSED}) as learning
from (
  select job, {DELAYED} as state, count(*) as n from session where state = {DELAYED} group by job
  union all select job, {HELD}, count(*) from session where state = {HELD} group by job
  union all select job, 10, sum(n) from unborn group by job) as s
join job j on j.id = s.job where j.status <> {PAUSED}

-- name: add_artifacts
-- Adds an artifact, once.
insert into artifact (id, tenant, job, session, kind, key, content_type, bytes, name, created_at)
values (:id, :tenant, :job, :session, :kind, :key, :content_type, :bytes, :name, :created_at)
on conflict (id) do nothing

-- name: record_delivery
-- Writes how an attempt to deliver went, unless the message was given out again meanwhile.
update delivery set state = :state, due_at = :due_at, ended_at = :ended_at, status_code = :status_code, error = :error
where id = :id and state = {DELIVERY_WAITING} and attempts = :attempts

-- name: next_delivery
-- When the next webhook message is due.
select min(due_at) from delivery where state = {DELIVERY_WAITING}

-- name: prune_deliveries
-- Forgets messages that ended long ago; those that were given up are kept longer.
delete from delivery where ended_at <= :delivered and (state = {DELIVERY_DELIVERED} or ended_at <= :dead)

-- name: resend
-- Makes a message due now; one that had ended gets all its attempts again.
update delivery set attempts = case when state = {DELIVERY_WAITING} then attempts else 0 end,
  state = {DELIVERY_WAITING}, due_at = :now, ended_at = null
where id = :id

-- name: resend_dead
-- Makes every message of a tenant (of all: null) due that was given up.
update delivery set attempts = 0, state = {DELIVERY_WAITING}, due_at = :now, ended_at = null
where state = {DELIVERY_DEAD} and (cast(:tenant as text) is null or tenant = :tenant)

-- name: count_deliveries
-- Messages that wait or were given up, of one tenant or (null) all.
select state, count(*) as n from delivery
where state in ({DELIVERY_WAITING}, {DELIVERY_DEAD}) and (cast(:tenant as text) is null or tenant = :tenant) group by state

-- name: keep_state
-- Keeps a value under its name, if there is none yet.
insert into state (name, data, at) values (:name, :data, :at) on conflict (name) do nothing

-- name: one_state
-- The value under a name.
select data from state where name = :name

-- name: change_limits
-- Writes what an owner changed about a job; its lock is held.
update job set priority = :priority, token_limit = :token_limit where id = :id

-- name: limits
-- What an owner may change about a job.
select priority, token_limit from job where id = :id

-- name: sessions_ahead
-- How many sessions of a job are claimed before one: ready ones, and held ones of its own loop; counted to some 10,000.
select (select count(*) from (select 1 from session where state = {QUEUED} and job = :job and id < :id limit 10001) as r)
  + (select count(*) from (select 1 from session where state = {HELD} and parent = :parent and id < :id limit 10001) as h)

-- name: put_off
-- When the last try of each loop of a job begins, of those that are put off; from the index of all that are.
select parent, max(ready_at) as at from session where state = {DELAYED} and job + 0 = :job group by parent

-- name: expired_jobs
-- Jobs whose time is over.
select id from job where expires_at is not null and expires_at <= :now order by expires_at limit :limit

-- name: old_jobs
-- Jobs that ended before a moment and have no time of their own.
select id from job
where finished_at is not null and archive is null and finished_at <= :before and expires_at is null
order by finished_at limit :limit

-- name: mark_archived
-- Says where a job's results lie; its time is over, whatever it was.
update job set archive = :archive, expires_at = :now where id = :id

-- name: dropped
-- Nothing is left of a job but its own row.
update job set expires_at = null where id = :id

-- name: some_sessions
-- The first few sessions of a job.
select id from session where job = :job order by path limit :limit

-- name: deleted_jobs
-- Jobs that are deleted, and of which something is left.
select job from deleted order by job limit :limit

-- name: drop_events
-- Removes the first events of a job.
delete from event where seq in (select seq from event where job = :job order by seq limit :n)

-- name: drop_deliveries
-- Removes the last webhook messages of a job: those that wait are among them.
delete from delivery where id in (select id from delivery where job = :job order by id desc limit :n)

-- name: sessions
-- Sessions as they stand, without their outcome; while their jobs are locked, no lease on them ends.
select id, job, parent, depth, path, domain, state, fence, attempt, children, loop_children
from session where id in many(:ids, bigint)

-- name: kept_checkpoints
-- The checkpoints, of some sessions, that may name confirmed actions.
select id, checkpoint from session where id in many(:ids, bigint) and checkpoint like '%"confirmed"%'

-- name: roots
-- How some root sessions stand.
select id, state, outcome from session where id in many(:ids, bigint)

-- name: incomplete_lists
-- What the completed sessions of some jobs know to be missing from their lists.
select job, count(*) as lists, sum(found) as found, sum(shown) as shown, count(shown) as counted
from session where job in many(:ids, bigint) and found is not null and state = {COMPLETED}
group by job

-- name: loops
-- Sessions that fanned out, as parents; their job's lock holds them too.
select id, job, depth, domain, state, parent, pending_children, first_child, loop_children, seat_limit, seats,
  stop_on_error, stopped, reseating, exists (select 1 from learning where loop = id and gated) as gated
from session where id in many(:ids, bigint)

-- name: reopen_items
-- Opens items that were over, with fresh attempts.
update session set state = :state, fence = fence + 1, attempt = 0, losses = 0, ready_at = null
where id in many(:ids, bigint)

-- name: hold
-- Holds queued sessions back, save those that a claim takes at this moment.
update session set state = {HELD} where id in many(:ids, bigint) and state = {QUEUED}

-- name: emptied
-- Those of some loops that wait for nothing.
select id from session where id in many(:ids, bigint) and state = {WAITING} and pending_children = 0

-- name: bounded_of
-- Those of some loops of which not all that is ready may begin: they are stopped, have more of it than seats, or have begun
-- to learn anew, so that none may.
select s.id, s.job, s.stopped, case when l.gated then 0 else s.seat_limit end as seat_limit
from session s left join learning l on l.loop = s.id
where s.id in many(:ids, bigint) and s.state = {WAITING}
  and (s.stopped or (s.reseating and (l.gated or s.seats > s.seat_limit)))

-- name: put_back
-- Takes sessions back from a claim that may not begin: the attempt does not count.
update session set state = :state, attempt = attempt - 1, owner = null, lease_until = null
where id in many(:ids, bigint) and state = {RUNNING}

-- name: running_sessions
-- Running sessions with what a claim gives.
select id, fence, job, domain, attempt, depth, parent, item, checkpoint, children, first_child, loop_children, owner,
  width
from session where id in many(:ids, bigint) and state = {RUNNING} order by id

-- name: loop_states
-- The storage state that each parent's children start with.
select id, loop_state from session where id in many(:ids, bigint) and loop_state is not null

-- name: partitions_of_jobs
-- The first partitions of some jobs, as `partitions` walks over those of all.
with recursive queue_partition (job, domain, id, tenant, priority, politeness) as (
  select s.job, s.domain, s.id, j.tenant, j.priority, j.politeness
  from job j join session s on s.id = (
    select n.id from session n where n.state = {QUEUED} and n.job = j.id order by n.domain, n.id limit 1)
  where j.id in many(:jobs, bigint) and j.status in ({QUEUED}, {RUNNING}) and not j.cancel_requested
    and (j.deadline_at is null or j.deadline_at > :now)
  union all
  select s.job, s.domain, s.id, l.tenant, l.priority, l.politeness from queue_partition l join session s on s.id = (
    select n.id from session n where n.state = {QUEUED} and n.job = l.job and n.domain > l.domain
    order by n.domain, n.id limit 1))
select l.job, l.domain, l.id, l.tenant, l.priority, l.politeness, d.host
from queue_partition l join domain d on d.id = l.domain limit :n

-- name: partitions_at
-- The partitions of those of some sessions that are ready, with the lowest id of each.
select s.job, s.domain, min(s.id) as id, j.tenant, j.priority, j.politeness, d.host
from session s join job j on j.id = s.job join domain d on d.id = s.domain
where s.id in many(:ids, bigint) and s.state = {QUEUED}
  and j.status in ({QUEUED}, {RUNNING}) and not j.cancel_requested and (j.deadline_at is null or j.deadline_at > :now)
group by s.job, s.domain, j.tenant, j.priority, j.politeness, d.host

-- name: hosts
-- The ids of host names.
select id, host from domain where host in many(:hosts, text)

-- name: host_names
-- Host names by the ids of their domains.
select id, host from domain where id in many(:ids, integer)

-- name: claimed_jobs
-- What every session of a job is told.
select id, tenant, status, cancel_requested, deadline_at, prompt_tokens, completion_tokens, token_limit, expected, completed
from job where id in many(:ids, bigint)

-- name: specs
-- The specs of jobs.
select id, spec from job where id in many(:ids, bigint)

-- name: specs_naming
-- The specs of those of some jobs that have a field of that name, or of the other.
select id, spec from job where id in many(:ids, bigint)
  and (strpos(spec, cast(:name as text)) > 0 or strpos(spec, cast(:other as text)) > 0)

-- name: wanted_jobs
-- Those of some jobs whose running sessions may go on.
select id from job where id in many(:ids, bigint) and status in ({QUEUED}, {RUNNING}) and not cancel_requested

-- name: running_in
-- The running sessions of some jobs.
select id from session where state = {RUNNING} and job in many(:jobs, bigint) order by id

-- name: slow_paces
-- Those of some domains that were slowed down or have a crawl-delay.
select domain from pace where domain in many(:domains, integer) and (most is not null or delay_s > 0)

-- name: busy_on
-- How many sessions of each job are leased on some domains; those in runs by worker, with how many are under way at once.
select domain, job, width, case when width is null then '' else owner end as owner, count(*) as n
from session where state = {RUNNING} and domain in many(:domains, integer) group by 1, 2, 3, 4

-- name: job_pages
-- When the last pages of some jobs on some domains are opened that have their place.
select job, domain, last_page from job_pace
where job in many(:jobs, bigint) and domain in many(:domains, integer)

-- name: job_paces
-- When some jobs last began a session on each domain, and the last page there that has its place.
select job, domain, last_start, last_page from job_pace where job in many(:jobs, bigint)

-- name: drop_sessions
-- Removes sessions.
delete from session where id in many(:ids, bigint)

-- name: drop_details
-- Removes the tasks of sessions.
delete from session_detail where session in many(:ids, bigint)

-- name: artifact_owners
-- The jobs whose rows refer to some keys of the artifact store.
select distinct key, job from artifact where key in many(:keys, text)

-- name: jobs_there
-- Those of some jobs that there are.
select id from job where id in many(:ids, bigint)

-- name: drop_artifacts
-- Removes the artifacts of sessions of a job.
delete from artifact where job = :job and session in many(:ids, bigint)

-- name: lock_jobs_of
-- The jobs of some sessions, locked. Without their specs, as `lock_jobs`: a spec may be long, and a commit have many.
select id, tenant, root, priority, politeness, status, cancel_requested, deadline_at, started_at, finished_at, error,
  expected, completed, terminated, failed, unsure, canceled, model_calls, prompt_tokens, completion_tokens,
  cached_tokens, pages, carried_over, concurrency, expires_at, archive, in_totals, retry_below, incomplete
from job where id = any(array(select distinct job from session where id in many(:ids, bigint)))
order by id for no key update

-- name: lock_jobs
-- Jobs as they stand, locked: the holder of a job's row may change what its sessions are to each other.
select id, tenant, root, priority, politeness, status, cancel_requested, deadline_at, started_at, finished_at, error,
  expected, completed, terminated, failed, unsure, canceled, model_calls, prompt_tokens, completion_tokens,
  cached_tokens, pages, carried_over, concurrency, expires_at, archive, in_totals, retry_below, incomplete
from job where id in many(:ids, bigint) order by id for no key update

-- name: reopen_run
-- A job goes on: what it gave as a schedule's run is to be judged anew.
update schedule_run set pending = 'verdict', figures = null, verdict = null where job = :job

-- name: release_held
-- Lets the first :n held children of a parent go.
update session set state = {QUEUED} where id = any(array(
  select id from session where state = {HELD} and parent = :parent order by id limit :n))
returning id, domain

-- name: retrying
-- Jobs of which sessions are still to be reopened.
select id from job indexed by job_retrying where retry_below is not null

-- name: retriable
-- The last failed, terminated and canceled sessions of a job, of those below an id.
select id, parent, depth, state, children, domain from session indexed by session_retriable
where state in ({TERMINATED}, {FAILED}, {CANCELED}) and job = :job and id < :below order by id desc limit :n

-- name: retriable_in
-- A failed, terminated or canceled child of a loop, in a range of ids, where there is one.
select id from session indexed by session_retriable
where state in ({TERMINATED}, {FAILED}, {CANCELED}) and job = :job and id between :first and :last and parent = :parent
limit 1

-- name: resume_emptied
-- Lets those parents of a job go on, from an id on, that wait for nothing.
update session set state = {QUEUED}, fence = fence + 1 where id = any(array(
  select id from session indexed by session_emptied
  where state = {WAITING} and pending_children = 0 and job = :job and id >= :first limit :n))
returning id, domain

-- name: end_sessions
-- Ends those of some sessions that are not final, and running ones where that is asked for; an outcome replaces theirs.
-- It waits for a claim that holds one of them, and leaves it alone then: the claim asked before the job was marked.
update session set state = :state, fence = fence + 1, owner = null, lease_until = null, ready_at = null,
  outcome = coalesce(cast(:outcome as text), outcome)
where id in many(:ids, bigint)
  and (state in ({QUEUED}, {WAITING}, {DELAYED}, {HELD}) or (state = {RUNNING} and cast(:running as boolean)))
returning id, parent, children

-- name: running_of
-- Some running sessions of a job.
select id from session indexed by session_leased where state = {RUNNING} and job = :job order by children limit :n

-- name: canceling
-- Canceled jobs of which something is left to be ended.
select j.id from job j indexed by job_canceling join session r on r.id = j.root
where j.cancel_requested and j.finished_at is null and r.state in ({QUEUED}, {WAITING}, {DELAYED}, {HELD})

-- name: stopping
-- Stopped loops that wait for more children than run or have loops of their own.
select l.id, l.job from session l indexed by session_stopping
where l.stopped and l.state = {WAITING} and l.pending_children > (
  select count(*) from session c indexed by session_leased where c.state = {RUNNING} and c.job = l.job and c.parent = l.id) + (
  select count(*) from session c where c.state = {WAITING} and c.job = l.job and c.parent = l.id)

-- name: reseating
-- Loops of which children are still to be held back or let go, save those that are stopped.
select id, job from session indexed by session_reseating where reseating and state = {WAITING} and not stopped

-- name: next_pending
-- Where a job's children go on to be stored, those of stopped loops aside.
select first, job, parent, idx, n, host, items from unborn
where job = :job and parent not in (
  select id from session indexed by session_stopping where stopped and state = {WAITING})
order by first limit 1

-- name: listed_page
-- Sessions of a job in one of these four states in item order from a path on. All are named, because their index does.
select id, path from session indexed by session_listed
where job = :job and state = :state and state in ({WAITING}, {TERMINATED}, {FAILED}, {UNSURE}) and path >= :least order by path limit :n

-- name: running_page
-- Running sessions of a job in item order from a path on. All that run are looked at, and not (`path || ''`) the whole
-- job in its order.
select id, path from session indexed by session_leased
where job = :job and state = {RUNNING} and path || '' >= :least order by path || '' limit :n

-- name: begun_in
-- How many children of a loop run, or have begun and wait; of each kind, counted up to :most.
select (
  select count(*) from (select 1 from session indexed by session_leased
    where state = {RUNNING} and job = :job and parent = :loop limit :most) as r) + (
  select count(*) from (select 1 from session indexed by session_waiting
    where state = {WAITING} and job = :job and parent = :loop limit :most) as w) + (
  select count(*) from (select 1 from session indexed by session_delayed
    where state = {DELAYED} and parent = :loop limit :most) as d)

-- name: running
-- How many sessions of each job are leased, and how many of those are items.
select job, count(*) as n, count(*) filter (where children = 0) as items from session
where state = {RUNNING} and job in many(:jobs, bigint) group by job

-- name: start_jobs
-- Marks queued jobs as running; one that is locked just now is marked by its next claim or outcome instead.
update job set status = {RUNNING}, started_at = coalesce(started_at, :now) where id = any(array(
  select id from job where id in many(:ids, bigint) and status = {QUEUED} for no key update skip locked))
returning id, tenant, expected, completed, terminated, failed, unsure, canceled

-- name: wake
-- Makes delayed sessions ready whose time has come; a transaction that holds one just now sees to it itself.
update session set state = {QUEUED} where id = any(array(
  select id from session where state = {DELAYED} and ready_at <= :now for update skip locked))
returning id

-- name: final_by_tenant
-- Items that are over, by tenant: from the totals, and from the jobs that these do not hold. Those are the open ones, and
-- such as a program has ended that knew of no totals. One statement: a job that ends meanwhile counts once.
select tenant, sum(completed) as completed, sum(terminated) as terminated, sum(failed) as failed,
  sum(unsure) as unsure, sum(canceled) as canceled
from (
  select tenant, completed, terminated, failed, unsure, canceled from total
  union all select tenant, completed, terminated, failed, unsure, canceled
  from job indexed by job_open where finished_at is null and not in_totals
  union all select tenant, completed, terminated, failed, unsure, canceled
  from job indexed by job_left_out where finished_at is not null and not in_totals) as part
group by tenant

-- name: extend_leases
-- Makes leases longer that had not run out when a dispatcher last looked, none of them beyond :most.
update session set lease_until = case when lease_until + :by < :most then lease_until + :by else :most end
where id = any(array(
  select id from session where state = {RUNNING} and lease_until > :seen and lease_until < :most
  order by id for no key update))

-- name: shorten_leases
-- Cuts leases that would last longer than any may.
update session set lease_until = :most
where id = any(array(
  select id from session where state = {RUNNING} and lease_until > :most order by id for no key update))

-- name: last_look
-- When a dispatcher last looked at the leases, locked.
select at from state where name = :name for no key update

-- name: seen_look
-- The same without a lock, for transactions that hold sites, which the look changes, too.
select at from state where name = :name

-- name: leases
-- Sessions as leases, locked: a checkpoint that says "an unrepeatable action begins" is kept before this look or refused.
select id, job, domain, state, fence, owner, lease_until, attempt, losses, checkpoint from session
where id in many(:ids, bigint) order by id for no key update

-- name: lock_paces
-- How some domains are treated, locked in order: two claims must not both take the last place of a domain.
select * from pace where domain in many(:domains, integer) order by domain for no key update

-- name: lock_robots
-- What is known of some origins' robots.txt, locked in order: two dispatchers must not both send somebody there.
select * from robots where origin in many(:origins, text) order by origin for no key update

-- name: add_robots
-- Makes the rows of origins that are asked for the first time; in the order in which they are locked.
insert into robots (origin) select value from values_of(:origins, text) where true order by value collate "C"
on conflict (origin) do nothing

-- name: prune_robots
-- Forgets some robots.txt that have run out and that no worker is fetching, or asking for at this moment.
delete from robots where origin = any(array(
  select origin from robots where expires_at < :now and fetching_until < :now order by expires_at limit :most
  for update skip locked))

-- name: lock_glossaries
-- What is known of some schemas' field glossaries, locked in order: two dispatchers must not both have a model asked.
select * from field_glossary where key in many(:keys, text) order by key for no key update

-- name: add_glossaries
-- Makes the rows of glossaries that are asked for the first time; in the order in which they are locked.
insert into field_glossary (key) select value from values_of(:keys, text) where true order by value collate "C"
on conflict (key) do nothing

-- name: prune_glossaries
-- Forgets some glossaries that have run out and that no session is asking a model for.
delete from field_glossary where key = any(array(
  select key from field_glossary where expires_at < :now and asking_until < :now order by expires_at limit :most
  for update skip locked))

-- name: token_bucket
-- What a tenant has left of its requests, locked: two gateways must not both spend the last one.
select level, at from allowance where tenant = :tenant for no key update

-- name: artifacts_of_alone
-- The artifacts of some sessions of a job whose content no others refer to.
select a.* from artifact a where a.job = :job and a.session in many(:ids, bigint)
  and not exists (select 1 from artifact o where o.key = a.key and o.id <> a.id
    and (o.job <> a.job or not o.session in many(:ids, bigint)))

-- name: lock_deleted
-- A job that is deleted, and of which something is left; locked: who drops it drops alone.
select job from deleted where job = :job for update

-- name: add_hosts
-- Gives new host names an id; sorted, so that two writers cannot wait for each other.
insert into domain (host) select value from values_of(:hosts, text) where true order by value
on conflict (host) do nothing

-- name: add_paces
-- Makes the rows of domains that are asked for the first time.
insert into pace (domain) select value from values_of(:domains, integer) where true order by value
on conflict (domain) do nothing

-- name: add_children
-- Stores the children of a loop.
insert into session (id, job, parent, depth, idx, path, domain, state, item, outcome)
rows(id bigint, job bigint, parent bigint, depth smallint, idx integer, path text, domain integer, state smallint,
  item text, outcome text)

-- name: add_jobs
-- Stores jobs.
insert into job (id, tenant, key, spec, priority, politeness, root, status, deadline_at, created_at, submitted_by,
  lineage)
rows(id bigint, tenant text, key text, spec text, priority smallint, politeness text, root bigint, {QUEUED},
  deadline_at double precision, created_at double precision, submitted_by text, lineage text)

-- name: add_labels
-- Stores labels of jobs.
insert into job_label (name, value, job) rows(name text, value text, job bigint)

-- name: add_words
-- Stores the words of jobs.
insert into job_words (job, host, words) rows(job bigint, host text, words text)

-- name: add_roots
-- Stores the root sessions of jobs.
insert into session (id, job, depth, idx, path, domain, state)
rows(id bigint, job bigint, 0, 0, '', domain integer, state smallint)

-- name: add_totals
-- Adds to the totals of tenants; in order of tenants, so that two writers cannot wait for each other.
insert into total (tenant, completed, terminated, failed, unsure, canceled)
rows(tenant text, completed bigint, terminated bigint, failed bigint, unsure bigint, canceled bigint order by tenant)
on conflict (tenant) do update set completed = total.completed + excluded.completed,
  terminated = total.terminated + excluded.terminated, failed = total.failed + excluded.failed,
  unsure = total.unsure + excluded.unsure, canceled = total.canceled + excluded.canceled

-- name: waiting_notice
-- The notice of one kind about some work that nothing has begun to send.
select id, body from delivery
where about = :about and channel = :channel and url = :url and state = {DELIVERY_WAITING} and attempts = 0
order by id desc limit 1 for update

-- name: last_notice
-- When the last notice of one kind about some work was made.
select max(created_at) from delivery where about = :about and channel = :channel and url = :url

-- name: add_to_notice
-- Puts what has happened meanwhile into a notice that waits.
update delivery set body = :body, event = :event, job = :job where id = :id

-- name: add_notice
-- Puts a notice into the outbox.
insert into delivery (tenant, job, event, url, body, state, due_at, created_at, channel, about)
values (:tenant, :job, :event, :url, :body, :state, :due_at, :at, :channel, :about)

-- name: add_deliveries
-- Puts webhook messages into the outbox, in their order.
insert into delivery (tenant, job, event, url, body, state, due_at, created_at)
rows(tenant text, job bigint, event text, url text, body text, state smallint, at double precision,
  at double precision order by n integer)

-- name: add_sinks
-- Puts sinks of jobs that have ended into their outbox; those of a job that ends again begin anew.
insert into sink (job, nth, tenant, place, state, due_at, created_at, ended_at, error)
rows(job bigint, nth integer, tenant text, place text, state text, at double precision, at double precision,
  ended_at double precision, error text order by job)
on conflict (job, nth) do update set state = excluded.state, failures = 0, leased = false,
  cursor = '', written = 0, due_at = excluded.due_at, ended_at = excluded.ended_at, error = excluded.error

-- name: unjudged_runs
-- Which of some jobs are runs of schedules that are still to be held against their history; they are not meanwhile.
select job from schedule_run where job in many(:ids, bigint) and pending = 'verdict' order by job for update

-- name: release_sinks
-- Makes those sinks of a job due that waited for the verdict on it, or were held back by it.
update sink set state = 'waiting', due_at = :now, ended_at = null, error = ''
where job = :job and state in ('unjudged', 'held')

-- name: hold_sinks
-- Keeps what a degraded run gave from the sinks that waited for its verdict.
update sink set state = :held, ended_at = :now, error = :why where job = :job and state = 'unjudged'
returning nth, place

-- name: skip_open_sinks
-- Ends the writing of a job's sinks: it goes on, and they begin anew when it has ended again.
update sink set state = 'skipped', leased = false, ended_at = :now, error = 'the job was tried again'
where job = :job and state in ('waiting', 'unjudged', 'held')

-- name: free_sinks
-- Ends leases that were not renewed.
update sink set leased = false where state = 'waiting' and leased and due_at <= :now

-- name: due_sinks
-- Sinks that are due, the first due ones first; those of a place that is being written wait.
select s.job, s.nth, s.tenant, s.place from sink s
where s.state = 'waiting' and s.due_at <= :now and not s.leased and not exists (
  select 1 from sink o where o.tenant = s.tenant and o.place = s.place and o.leased)
order by s.due_at, s.job, s.nth limit :n

-- name: claim_sink
-- Leases a sink, unless another has done so.
update sink set leased = true, attempts = attempts + 1, due_at = :until
where job = :job and nth = :nth and state = 'waiting' and not leased and due_at <= :now
returning *

-- name: newer_in_sink
-- How many newer jobs have written to a place.
select count(*) from sink where tenant = :tenant and place = :place and job > :job and state = 'done'

-- name: advance_sink
-- Keeps how far the writing of a sink came, and renews its lease. It has all its attempts again where it came on.
update sink set cursor = :cursor, due_at = :until,
  failures = case when :written > written then 0 else failures end, written = :written
where job = :job and nth = :nth and attempts = :attempts and leased

-- name: end_sink
-- Writes how an attempt to write a sink ended, unless its lease was lost.
update sink set state = :state, leased = false, due_at = :due_at, ended_at = :ended_at, error = :error,
  failures = failures + :failed
where job = :job and nth = :nth and attempts = :attempts and leased

-- name: next_sink
-- When the next sink is due.
select min(due_at) from sink where state = 'waiting'

-- name: sinks_of
-- The sinks of a job that has ended.
select * from sink where job = :job order by nth

-- name: sink_again
-- Makes a sink due now, with all its attempts; anew from the first record, or where it stopped.
update sink set state = 'waiting', failures = 0, leased = false, due_at = :now, ended_at = null, error = '',
  cursor = case when :anew then '' else cursor end, written = case when :anew then 0 else written end
where job = :job and nth = :nth and state not in ('waiting', 'unjudged')

-- name: count_sinks
-- Sinks of a tenant (of all: null) that wait and that were given up.
select state, count(*) as n from sink
where state in ('waiting', 'failed') and (cast(:tenant as text) is null or tenant = :tenant) group by state

-- name: tenant_notify
-- Whom some tenants tell of jobs that do not say so themselves.
select name, data from state where name in many(:names, text)

-- name: item_at
-- The session of an item, by its place among all items of its job.
select id from session where job = :job and depth > 0 and children = 0 order by path limit 1 offset :place

-- name: busy_sites
-- Domains with running sessions or a limit, or that asked for a pause or a distance; the busiest first. With a host,
-- that one alone, whatever there is of it.
select d.id, d.host, coalesce(r.n, 0) as running, p.most, p.blocked_until, p.delay_s, p.own_most, p.own_delay_s,
  p.own_pause_until, coalesce(
    (select state from robots where origin = 'https://' || d.host),
    (select state from robots where origin = 'http://' || d.host)
  ) as robots
from domain d
left join (select domain, count(*) as n from session where state = {RUNNING} group by domain) r on r.domain = d.id
left join pace p on p.domain = d.id
where case when :host <> '' then d.host = :host else
  r.n > 0 or p.most is not null or p.blocked_until > :now or p.delay_s > 0
  or p.own_most is not null or p.own_delay_s is not null or p.own_pause_until > :now end
order by coalesce(r.n, 0) desc, d.host limit :n

-- name: item_states
-- How each item of a job stands, in item order: one letter each, since 100,000 rows would cost three times as much.
select string_agg(chr(65 + state), '') from (
  select state from session where job = :job and depth > 0 and children = 0 order by path) as item

-- name: keep_pages
-- Notes which items have records that a later run may carry over.
insert into kept_page (job, page, session) rows(job bigint, page text, session bigint)
on conflict (job, page) do update set session = excluded.session

-- name: earlier_pages
-- Items of an earlier run by their pages, with what they came to.
select kept_page.page, session.id, session.state, session.parent, session.outcome
from kept_page join session on session.id = kept_page.session
where kept_page.job = :job and kept_page.page in many(:pages, text)

-- name: previous_run
-- The run before a job, that completed: the last one of its schedule, or else of the same work.
select job.id, 0 as other from schedule_run mine
  join schedule_run before on before.schedule = mine.schedule and before.job < mine.job
  join job on job.id = before.job and job.status = {COMPLETED}
where mine.job = :id
union all
select earlier.id, 1 as other from (
  select id from job where lineage = (select lineage from job where id = :id) and id < :id and status = {COMPLETED}
  order by id desc limit 1) earlier
order by other, id desc limit 1
