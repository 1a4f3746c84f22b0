-- What PostgreSQL does in its own way. Many rows come as one JSON text, `:rows`: psycopg writes arrays of quoted texts
-- ten times as slowly. Claims take sessions with `skip locked` and wait for no other transaction.

-- name: reserve
-- Takes the next ids of some counters, so many each; gives the last of each. Alone in its transaction: its commit need
-- not reach the disk, since it lies before that of the rows that use them.
with hastily as materialized (select set_config('synchronous_commit', 'off', true) as set)
insert into counter as c (name, value)
select v.key, cast(v.value as bigint) from hastily, json_each_text(cast(:counts as json)) as v
where hastily.set is not null
on conflict (name) do update set value = c.value + excluded.value
returning name, value

-- name: end_attempts
-- Ends attempts: state, outcome and checkpoint of each, guarded by its fence alone.
update session s set state = v.state, fence = s.fence + 1, attempt = s.attempt - v.given_back,
  losses = s.losses + v.lost, owner = null,  lease_until = null, ready_at = v.ready_at, outcome = coalesce(v.outcome, s.outcome),
  found = v.found, shown = v.shown, checkpoint = case when v.keep then s.checkpoint else v.checkpoint end
from json_to_recordset(cast(:rows as json)) as v (id bigint, fence bigint, state smallint, given_back integer,
  lost integer,  ready_at double precision, outcome text, found integer, shown integer, keep boolean, checkpoint text)
where s.id = v.id and s.fence = v.fence

-- name: reopen_loops
-- Writes parents of which children were reopened; one that was over (`raised`) begins anew with its loop.
update session s set state = v.state, fence = s.fence + v.raised, attempt = s.attempt * (1 - v.raised),
  losses = s.losses * (1 - v.raised), ready_at = null, pending_children = v.pending, seats = v.seats, stopped = (s.stopped and v.raised = 0), reseating = v.reseating
from json_to_recordset(cast(:rows as json)) as v (id bigint, state smallint, raised integer, pending integer,
  seats integer, reseating boolean)
where s.id = v.id

-- name: held_of
-- Some held sessions of a job: from loop to loop, since they are indexed by it.
select s.id from session l cross join lateral (
  select c.id from session c where c.state = {HELD} and c.parent = l.id order by c.id limit :n) as s
where l.state = {WAITING} and l.job = :job limit :n

-- name: ready_in
-- Some ready children of a loop that have not fanned out, in a range of ids: from domain to domain, as they are indexed.
with recursive queue_partition (domain) as (
  select * from (select domain from session where state = {QUEUED} and job = :job order by domain limit 1) as first_partition
  union all
  select (select n.domain from session n where n.state = {QUEUED} and n.job = :job and n.domain > l.domain
    order by n.domain limit 1) from queue_partition l where l.domain is not null)
select s.id from queue_partition l cross join lateral (
  select c.id from session c
  where c.state = {QUEUED} and c.job = :job and c.domain = l.domain and c.id between :first and :last
    and c.parent = :parent and c.children = 0
  order by c.id limit :n) as s
limit :n

-- name: count_alone
-- Waits for other claims that count who is out of some loops, and keeps the next ones waiting.
select pg_advisory_xact_lock(-id) from unnest(cast(:ids as bigint[])) as id

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
  owner = (cast(:owners as text[]))[array_position(picked.ids, session.id)], lease_until = :until,
  width = cast(:width as smallint), ready_at = null
from picked where session.id = any(picked.ids)
returning id, fence, job, domain, attempt, depth, parent, item, checkpoint, children, first_child, loop_children, owner, width

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
-- The first few children of some loops that failed, gave up or did not run, each loop in a range of ids. The index of what
-- a retry opens finds them among any number of completed ones.
select v.id as parent, s.item, s.outcome
from unnest(cast(:ids as bigint[]), cast(:firsts as bigint[]), cast(:lasts as bigint[]), cast(:jobs as bigint[]))
  as v (id, first, last, job)
cross join lateral (
  select c.id, c.item, c.outcome from session c
  where c.job = v.job and c.id between v.first and v.last and c.state in ({TERMINATED}, {FAILED}, {CANCELED})
  order by c.id limit :n) as s
order by v.id, s.id

-- name: keep_checkpoints
-- Keeps checkpoints of running sessions whose lease is still the reporter's; locked in the common order.
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

-- name: add_events
-- Adds rows to the feed under a lock that is held to the end of the transaction: without it a row could become visible
-- after one with a higher number, and a reader that went on from the higher one would never see it.
-- Then all listeners are told.
with held as materialized (select pg_advisory_xact_lock(357859247436)),
added as (
  insert into event (job, tenant, name, data, at)
  select v.job, v.tenant, v.name, v.data, v.at from held, json_to_recordset(cast(:rows as json))
    as v (n integer, job bigint, tenant text, name text, data text, at double precision)
  order by v.n)
select pg_notify('shoal', '')

-- name: now
-- The database's clock.
select cast(extract(epoch from clock_timestamp()) as double precision)

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
