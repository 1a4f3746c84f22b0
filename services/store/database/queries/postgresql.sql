-- PostgreSQL. Many rows come as one JSON text, `:rows`: psycopg writes arrays of quoted texts ten times as slowly.
-- Order of locks, so that nobody waits in a circle: jobs by id, then sessions by id, totals by tenant, the feed last.
-- Claims take sessions with `skip locked` and wait for nobody.

-- name: reserve
-- Takes the next ids of some counters, so many each; gives the last of each. Alone in its transaction: its commit need
-- not reach the disk, since it lies before that of the rows that use them.
with hastily as materialized (select set_config('synchronous_commit', 'off', true) as set)
insert into counter as c (name, value)
select v.key, cast(v.value as bigint) from hastily, json_each_text(cast(:counts as json)) as v
where hastily.set is not null
on conflict (name) do update set value = c.value + excluded.value
returning name, value

-- name: lock_jobs_of
-- The jobs of some sessions, locked. Without their specs, as `lock_jobs`: a spec may be long, and a commit have many.
select id, tenant, root, priority, politeness, status, cancel_requested, deadline_at, started_at, finished_at, error,
  expected, completed, terminated, failed, unsure, canceled, model_calls, prompt_tokens, completion_tokens,
  cached_tokens, pages, concurrency, expires_at, archive, in_totals, retry_below, incomplete
from job where id = any(array(select distinct job from session where id = any(cast(:ids as bigint[]))))
order by id for no key update

-- name: lock_jobs
-- Jobs as they stand, locked: whoever holds a job's row may change what its sessions are to each other.
select id, tenant, root, priority, politeness, status, cancel_requested, deadline_at, started_at, finished_at, error,
  expected, completed, terminated, failed, unsure, canceled, model_calls, prompt_tokens, completion_tokens,
  cached_tokens, pages, concurrency, expires_at, archive, in_totals, retry_below, incomplete
from job where id = any(cast(:ids as bigint[])) order by id for no key update

-- name: end_attempts
-- Ends attempts: state, outcome and checkpoint of each, guarded by its fence alone.
update session s set state = v.state, fence = s.fence + 1, attempt = s.attempt - v.given_back, owner = null,
  lease_until = null, ready_at = v.ready_at, outcome = coalesce(v.outcome, s.outcome),
  found = v.found, shown = v.shown, checkpoint = case when v.keep then s.checkpoint else v.checkpoint end
from json_to_recordset(cast(:rows as json)) as v (id bigint, fence bigint, state smallint, given_back integer,
  ready_at double precision, outcome text, found integer, shown integer, keep boolean, checkpoint text)
where s.id = v.id and s.fence = v.fence

-- name: add_children
-- Stores the children of a loop, in one statement.
insert into session (id, job, parent, depth, idx, path, domain, state, item, outcome)
select v.* from json_to_recordset(cast(:rows as json)) as v (id bigint, job bigint, parent bigint, depth smallint,
  idx integer, path text, domain integer, state smallint, item text, outcome text)

-- name: release_held
-- Lets the first :n held children of a parent go.
update session set state = {QUEUED} where id = any(array(
  select id from session where state = {HELD} and parent = :parent order by id limit :n))
returning id, domain

-- name: retrying
-- Jobs of which sessions are still to be reopened.
select id from job where retry_below is not null

-- name: retriable
-- The last failed, terminated and canceled sessions of a job, of those below an id.
select id, parent, depth, state, children, domain from session
where state in ({TERMINATED}, {FAILED}, {CANCELED}) and job = :job and id < :below order by id desc limit :n

-- name: reopen_loops
-- Writes parents of which children were reopened; one that was over (`raised`) begins anew with its loop.
update session s set state = v.state, fence = s.fence + v.raised, attempt = s.attempt * (1 - v.raised), ready_at = null,
  pending_children = v.pending, seats = v.seats, stopped = (s.stopped and v.raised = 0), reseating = v.reseating
from json_to_recordset(cast(:rows as json)) as v (id bigint, state smallint, raised integer, pending integer,
  seats integer, reseating boolean)
where s.id = v.id

-- name: resume_emptied
-- Lets those parents of a job go on, from an id on, that wait for nothing.
update session set state = {QUEUED}, fence = fence + 1 where id = any(array(
  select id from session where state = {WAITING} and pending_children = 0 and job = :job and id >= :first limit :n))
returning id, domain

-- name: end_sessions
-- Ends those of some sessions that are not final, and running ones where that is asked for; an outcome replaces theirs.
-- It waits for a claim that holds one of them, and leaves it alone then: the claim asked before the job was marked.
update session set state = :state, fence = fence + 1, owner = null, lease_until = null, ready_at = null,
  outcome = coalesce(cast(:outcome as text), outcome)
where id = any(cast(:ids as bigint[]))
  and (state in ({QUEUED}, {WAITING}, {DELAYED}, {HELD}) or (state = {RUNNING} and cast(:running as boolean)))
returning id, parent, children

-- name: held_of
-- Some held sessions of a job: from loop to loop, since they are indexed by it.
select s.id from session l cross join lateral (
  select c.id from session c where c.state = {HELD} and c.parent = l.id order by c.id limit :n) as s
where l.state = {WAITING} and l.job = :job limit :n

-- name: running_of
-- Some running sessions of a job.
select id from session where state = {RUNNING} and job = :job order by children limit :n

-- name: canceling
-- Canceled jobs of which something is left to be ended.
select j.id from job j join session r on r.id = j.root
where j.cancel_requested and j.finished_at is null and r.state in ({QUEUED}, {WAITING}, {DELAYED}, {HELD})

-- name: stopping
-- Stopped loops that wait for more children than run or have loops of their own.
select l.id, l.job from session l
where l.stopped and l.state = {WAITING} and l.pending_children > (
  select count(*) from session c where c.state = {RUNNING} and c.job = l.job and c.parent = l.id) + (
  select count(*) from session c where c.state = {WAITING} and c.job = l.job and c.parent = l.id)

-- name: reseating
-- Loops of which children are still to be held back or let go, save those that are stopped.
select id, job from session where reseating and state = {WAITING} and not stopped

-- name: next_pending
-- Where a job's children go on to be stored, those of stopped loops aside.
select first, job, parent, idx, n, host, items from unborn
where job = :job and parent not in (select id from session where stopped and state = {WAITING})
order by first limit 1

-- name: ready_in
-- Some ready children of a loop that have not fanned out, in a range of ids: from domain to domain, as they are indexed.
with recursive queue_partition (domain) as (
  select * from (select domain from session where state = {QUEUED} and job = :job order by domain limit 1) as first_lane
  union all
  select (select n.domain from session n where n.state = {QUEUED} and n.job = :job and n.domain > l.domain
    order by n.domain limit 1) from queue_partition l where l.domain is not null)
select s.id from queue_partition l cross join lateral (
  select c.id from session c
  where c.state = {QUEUED} and c.job = :job and c.domain = l.domain and c.id between :first and :last
    and c.parent = :parent and c.children = 0
  order by c.id limit :n) as s
limit :n

-- name: listed_page
-- Sessions of a job in one of these four states in item order from a path on. All are named, because their index does.
select id, path from session
where job = :job and state = :state and state in ({WAITING}, {TERMINATED}, {FAILED}, {UNSURE}) and path >= :least order by path limit :n

-- name: running_page
-- Running sessions of a job in item order from a path on. All that run are looked at, and not (`path || ''`) the whole
-- job in its order.
select id, path from session
where job = :job and state = {RUNNING} and path || '' >= :least order by path || '' limit :n

-- name: count_alone
-- Waits for other claims that count who is out of some loops, and keeps the next ones waiting.
select pg_advisory_xact_lock(-id) from unnest(cast(:ids as bigint[])) as id

-- name: begun_in
-- How many children of a loop run, or have begun and wait; of each kind, counted up to :most.
select (select count(*) from (select 1 from session where state = {RUNNING} and job = :job and parent = :loop limit :most) as r)
  + (select count(*) from (select 1 from session where state = {WAITING} and job = :job and parent = :loop limit :most) as w)
  + (select count(*) from (select 1 from session where state = {DELAYED} and parent = :loop limit :most) as d)

-- name: running
-- How many sessions of each job are leased, and how many of those are items.
select job, count(*) as n, count(*) filter (where children = 0) as items from session
where state = {RUNNING} and job = any(cast(:jobs as bigint[])) group by job

-- name: claim
-- Leases the first few ready sessions of many partitions, behind each partition's cursor; raises each fence. Workers get them in
-- the order of `owners`.
with queue_partition as (
  select l.* from unnest(cast(:jobs as bigint[]), cast(:domains as integer[]), cast(:afters as bigint[]),
    cast(:ns as integer[])) as l (job, domain, after, n)
  join job j on j.id = l.job
  where j.status in ({QUEUED}, {RUNNING}) and not j.cancel_requested and (j.deadline_at is null or j.deadline_at > :now)),
picked as materialized (
  select array(
    select x.id from queue_partition cross join lateral (
      select s.id from session s
      where s.job = queue_partition.job and s.domain = queue_partition.domain and s.state = {QUEUED} and s.id > queue_partition.after
      order by s.id limit queue_partition.n for update skip locked) as x
    order by x.id) as ids)
update session set state = {RUNNING}, fence = fence + 1, attempt = attempt + 1,
  owner = (cast(:owners as text[]))[array_position(picked.ids, session.id)], lease_until = :until, ready_at = null
from picked where session.id = any(picked.ids)
returning id, fence, job, domain, attempt, depth, parent, item, checkpoint, children, first_child, loop_children, owner

-- name: start_jobs
-- Marks queued jobs as running; one that is locked just now is marked by its next claim or outcome instead.
update job set status = {RUNNING}, started_at = coalesce(started_at, :now) where id = any(array(
  select id from job where id = any(cast(:ids as bigint[])) and status = {QUEUED} for no key update skip locked))
returning id, tenant, expected, completed, terminated, failed, unsure, canceled

-- name: loops_completed
-- How many children of some loops are completed, each in a range of ids.
select v.id, count(*) as n
from unnest(cast(:ids as bigint[]), cast(:firsts as bigint[]), cast(:lasts as bigint[])) as v (id, first, last)
join session s on s.id between v.first and v.last
where s.state = {COMPLETED} group by v.id

-- name: loop_samples
-- The outcomes of the first few completed children of some loops, each in a range of ids.
select v.id as parent, s.outcome
from unnest(cast(:ids as bigint[]), cast(:firsts as bigint[]), cast(:lasts as bigint[])) as v (id, first, last)
cross join lateral (
  select c.id, c.outcome from session c where c.id between v.first and v.last and c.state = {COMPLETED} order by c.id limit :n) as s
order by v.id, s.id

-- name: loop_failures
-- The first few children of some loops that are over and not completed, each loop in a range of ids.
select v.id as parent, s.item, s.outcome
from unnest(cast(:ids as bigint[]), cast(:firsts as bigint[]), cast(:lasts as bigint[])) as v (id, first, last)
cross join lateral (
  select c.id, c.item, c.outcome from session c where c.id between v.first and v.last and c.state <> {COMPLETED}
  order by c.id limit :n) as s
order by v.id, s.id

-- name: keep_checkpoints
-- Keeps checkpoints of running sessions whose lease is still the reporter's; locked in order, as everybody does.
-- By their ids, and not by an index of all that are leased (`state + 0`), of which there may be thousands.
with v as materialized (
  select * from json_to_recordset(cast(:rows as json)) as v (id bigint, fence bigint, checkpoint text)),
ours as (
  select s.id, v.checkpoint from session s join v on s.id = v.id and s.fence = v.fence
  where s.id = any(array(select id from v)) and s.state + 0 = {RUNNING} order by s.id for no key update of s)
update session s set checkpoint = ours.checkpoint from ours where s.id = ours.id
returning s.id, s.fence

-- name: renew
-- Extends leases that are still the owner's.
with ours as (
  select s.id from session s join unnest(cast(:ids as bigint[]), cast(:fences as bigint[])) as v (id, fence)
    on s.id = v.id and s.fence = v.fence
  where s.state = {RUNNING} order by s.id for no key update of s)
update session set lease_until = :until where id = any(array(select id from ours))
returning id, job

-- name: wake
-- Makes delayed sessions ready whose time has come; whoever holds one just now sees to it himself.
update session set state = {QUEUED} where id = any(array(
  select id from session where state = {DELAYED} and ready_at <= :now for update skip locked))
returning id

-- name: add_events
-- Adds rows to the feed under a lock that is held to the end of the transaction: without it a row could become visible
-- after one with a higher number, and a reader that went on from the higher one would never see it.
-- Then everybody who listens is told.
with held as materialized (select pg_advisory_xact_lock(357859247436)),
added as (
  insert into event (job, tenant, name, data, at)
  select v.job, v.tenant, v.name, v.data, v.at from held, json_to_recordset(cast(:rows as json))
    as v (n integer, job bigint, tenant text, name text, data text, at double precision)
  order by v.n)
select pg_notify('shoal', '')

-- name: add_totals
-- Adds to the totals of tenants; sorted, so that two writers cannot wait for each other.
insert into total (tenant, completed, terminated, failed, unsure, canceled)
select v.tenant, v.completed, v.terminated, v.failed, v.unsure, v.canceled
from json_to_recordset(cast(:rows as json)) as v (tenant text, completed bigint, terminated bigint, failed bigint,
  unsure bigint, canceled bigint)
order by v.tenant
on conflict (tenant) do update set completed = total.completed + excluded.completed,
  terminated = total.terminated + excluded.terminated, failed = total.failed + excluded.failed,
  unsure = total.unsure + excluded.unsure, canceled = total.canceled + excluded.canceled

-- name: final_by_tenant
-- Items that are over, by tenant: from the totals, and from the jobs that these do not hold. Those are the open ones, and
-- such as a program has ended that knew of no totals. One statement: a job that ends meanwhile counts once.
select tenant, sum(completed) as completed, sum(terminated) as terminated, sum(failed) as failed,
  sum(unsure) as unsure, sum(canceled) as canceled
from (
  select tenant, completed, terminated, failed, unsure, canceled from total
  union all select tenant, completed, terminated, failed, unsure, canceled
  from job where finished_at is null and not in_totals
  union all select tenant, completed, terminated, failed, unsure, canceled
  from job where finished_at is not null and not in_totals) as part
group by tenant

-- name: add_deliveries
-- Puts webhook messages into the outbox, in their order.
insert into delivery (tenant, job, event, url, body, state, due_at, created_at)
select v.tenant, v.job, v.event, v.url, v.body, v.state, v.at, v.at
from json_to_recordset(cast(:rows as json)) as v (n integer, tenant text, job bigint, event text, url text, body text,
  state smallint, at double precision)
order by v.n

-- name: add_hosts
-- Gives new host names an id; sorted, so that two writers cannot wait for each other.
insert into domain (host) select h from unnest(cast(:hosts as text[])) as h order by h on conflict (host) do nothing

-- name: now
-- The database's clock.
select cast(extract(epoch from clock_timestamp()) as double precision)

-- name: add_jobs
-- Stores jobs.
insert into job (id, tenant, key, spec, priority, politeness, root, status, deadline_at, created_at)
select v.id, v.tenant, v.key, v.spec, v.priority, v.politeness, v.root, 0, v.deadline_at, v.created_at
from json_to_recordset(cast(:rows as json)) as v (id bigint, tenant text, key text, spec text, priority smallint,
  politeness text, root bigint, deadline_at double precision, created_at double precision)

-- name: add_labels
-- Stores labels of jobs.
insert into job_label (name, value, job)
select v.name, v.value, v.job from json_to_recordset(cast(:rows as json)) as v (name text, value text, job bigint)

-- name: add_roots
-- Stores the root sessions of jobs.
insert into session (id, job, depth, idx, path, domain, state)
select v.id, v.job, 0, 0, '', v.domain, v.state
from json_to_recordset(cast(:rows as json)) as v (id bigint, job bigint, domain integer, state smallint)

-- name: specs_naming
-- The specs of those of some jobs that have a field of that name.
select id, spec from job where id = any(cast(:ids as bigint[])) and strpos(spec, cast(:name as text)) > 0

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

-- name: leases
-- Sessions as leases, locked: a checkpoint that says "an unrepeatable action begins" is kept before this look or refused.
select id, job, domain, state, fence, owner, lease_until, attempt, checkpoint from session
where id = any(cast(:ids as bigint[])) order by id for no key update

-- name: claim_deliveries
-- Gives out webhook messages that are due, the :each oldest of a tenant at most: first to tenants that have least under
-- way, among equals by chance. Walks from tenant to tenant, so that no backlog hides another's messages; what another
-- claimer holds is left to it.
with recursive who (tenant) as (
  select * from (select tenant from delivery where state = {DELIVERY_WAITING} order by tenant limit 1) as first_tenant
  union all
  select (select n.tenant from delivery n where n.state = {DELIVERY_WAITING} and n.tenant > w.tenant order by n.tenant limit 1)
  from who w where w.tenant is not null),
due as (
  select m.id, coalesce(cast(u.value as bigint), 0) + m.nth as place
  from who w left join json_each_text(cast(:under_way as json)) u on u.key = w.tenant
  cross join lateral (
    select d.id, row_number() over (order by d.due_at, d.id) as nth from delivery d
    where d.state = {DELIVERY_WAITING} and d.tenant = w.tenant and d.due_at <= :now order by d.due_at, d.id limit :each) as m)
update delivery set due_at = :until, attempts = attempts + 1 where id = any(array(
  select d.id from delivery d join due on due.id = d.id
  where due.place <= :each and d.state = {DELIVERY_WAITING} and d.due_at <= :now
  order by due.place, random() limit :n for update of d skip locked))
returning *

-- name: lock_paces
-- How some domains are treated, locked in order: two claims must not both take the last place of a domain.
select * from pace where domain = any(cast(:domains as integer[])) order by domain for no key update

-- name: add_paces
-- Makes the rows of domains that are asked for the first time.
insert into pace (domain) select d from unnest(cast(:domains as integer[])) as d order by d
on conflict (domain) do nothing

-- name: lock_robots
-- What is known of some origins' robots.txt, locked in order: two dispatchers must not both send somebody there.
select * from robots where origin = any(cast(:origins as text[])) order by origin for no key update

-- name: add_robots
-- Makes the rows of origins that are asked for the first time.
insert into robots (origin) select o from unnest(cast(:origins as text[])) as o order by o collate "C"
on conflict (origin) do nothing

-- name: prune_robots
-- Forgets some robots.txt that have run out and that nobody is fetching, or asking for at this moment.
delete from robots where origin = any(array(
  select origin from robots where expires_at < :now and fetching_until < :now order by expires_at limit :most
  for update skip locked))

-- name: allowance
-- What a tenant has left of its requests, locked: two gateways must not both spend the last one.
select level, at from allowance where tenant = :tenant for no key update

-- name: artifacts_of_alone
-- The artifacts of some sessions of a job whose content no others refer to.
select a.* from artifact a where a.job = :job and a.session = any(cast(:ids as bigint[]))
  and not exists (select 1 from artifact o where o.key = a.key and o.id <> a.id
    and (o.job <> a.job or o.session <> all(cast(:ids as bigint[]))))

-- name: lock_deleted
-- A job that is deleted, and of which something is left; locked: who drops it drops alone.
select job from deleted where job = :job for update
