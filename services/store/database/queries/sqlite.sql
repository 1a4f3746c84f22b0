-- What SQLite does in its own way. It knows no figures of its tables: where it would take a longer index, the query names
-- the right one.

-- name: reserve
-- Takes the next ids of some counters, so many each; gives the last of each.
insert into counter (name, value) select key, value from json_each(:counts) where true
on conflict (name) do update set value = counter.value + excluded.value
returning name, value

-- name: end_attempts
-- Ends an attempt: its state, outcome and checkpoint, guarded by its fence alone.
update session set state = :state, fence = fence + 1, attempt = attempt - :given_back,
  losses = losses + :lost, owner = null,  lease_until = null, ready_at = :ready_at, outcome = coalesce(:outcome, outcome),
  found = :found, shown = :shown, checkpoint = case when :keep then checkpoint else :checkpoint end
where id = :id and fence = :fence

-- name: reopen_loops
-- Writes a parent of which children were reopened; one that was over (`raised`) begins anew with its loop.
update session set state = :state, fence = fence + :raised, attempt = attempt * (1 - :raised),
  losses = losses * (1 - :raised), ready_at = null, pending_children = :pending, seats = :seats, stopped = (stopped and :raised = 0), reseating = :reseating
where id = :id

-- name: held_of
-- Some held sessions of a job: from loop to loop, since they are indexed by it.
select s.id from session l cross join session s
where l.state = {WAITING} and l.job = :job and s.state = {HELD} and s.parent = l.id limit :n

-- name: ready_in
-- Some ready children of a loop that have not fanned out, in a range of ids: from domain to domain, as they are indexed.
with recursive queue_partition (domain) as (
  select * from (select domain from session where state = {QUEUED} and job = :job order by domain limit 1) as first_partition
  union all
  select (select n.domain from session n where n.state = {QUEUED} and n.job = :job and n.domain > l.domain
    order by n.domain limit 1) from queue_partition l where l.domain is not null)
select s.id from queue_partition l cross join session s
where s.state = {QUEUED} and s.job = :job and s.domain = l.domain and s.id between :first and :last
  and s.parent = :parent and s.children = 0 limit :n

-- name: partition_head
-- The first :n ready sessions of a partition behind its cursor, if its job may run: that is asked first, and once, since a
-- job that is being ended may have a million of them.
select s.id from job j cross join session s
where j.id = :job and j.status in ({QUEUED}, {RUNNING}) and not j.cancel_requested
  and (j.deadline_at is null or j.deadline_at > :now)
  and s.job = :job and s.domain = :domain and s.state = {QUEUED} and s.id > :after
order by s.id limit :n

-- name: partition_heads
-- The first ready session of each of many partitions behind its cursor, if its job may run.
select s.id from json_each(:partitions) l join session s on s.id = (
  select n.id from session n
  where n.job = json_extract(l.value, '$[0]') and n.domain = json_extract(l.value, '$[1]') and n.state = {QUEUED}
    and n.id > json_extract(l.value, '$[2]')
  order by n.id limit 1)
join job j on j.id = s.job
where j.status in ({QUEUED}, {RUNNING}) and not j.cancel_requested and (j.deadline_at is null or j.deadline_at > :now)

-- name: claim
-- Leases sessions; raises each fence.
update session set state = {RUNNING}, fence = fence + 1, attempt = attempt + 1, owner = json_extract(v.value, '$[1]'),
  lease_until = :until, width = :width, ready_at = null
from json_each(:given) as v where session.id = json_extract(v.value, '$[0]')
returning session.id, fence, job, domain, attempt, depth, parent, item, checkpoint, children, first_child,
  loop_children, owner, width

-- name: loops_completed
-- How many children of some loops are completed, each in a range of ids.
select json_extract(v.value, '$[0]') as id, count(*) as n from json_each(:spans) v
cross join session s on s.id between json_extract(v.value, '$[1]') and json_extract(v.value, '$[2]')
where s.state = {COMPLETED} group by v.key

-- name: loop_samples
-- The outcomes of the first few completed children of some loops, each in a range of ids.
select json_extract(v.value, '$[0]') as parent, s.outcome from json_each(:spans) v
cross join session s on s.id in (
  select c.id from session c
  where c.id between json_extract(v.value, '$[1]') and json_extract(v.value, '$[2]') and c.state = {COMPLETED}
  order by c.id limit :n)
order by s.id

-- name: loop_failures
-- The first few children of some loops that failed, gave up or did not run, each loop in a range of ids. The index of what
-- a retry opens finds them among any number of completed ones.
select json_extract(v.value, '$[0]') as parent, s.item, s.outcome from json_each(:spans) v
cross join session s on s.id in (
  select c.id from session c
  where c.job = json_extract(v.value, '$[3]') and c.id between json_extract(v.value, '$[1]') and json_extract(v.value, '$[2]')
    and c.state in ({TERMINATED}, {FAILED}, {CANCELED})
  order by c.id limit :n)
order by s.id

-- name: keep_checkpoints
-- Keeps checkpoints of running sessions whose lease is still the reporter's.
update session set checkpoint = json_extract(v.value, '$.checkpoint') from json_each(:rows) as v
where session.id = json_extract(v.value, '$.id') and session.fence = json_extract(v.value, '$.fence')
  and session.state = {RUNNING}
returning session.id, session.fence

-- name: renew
-- Extends leases that are still the owner's, and says which of them are still wanted.
update session set lease_until = :until from json_each(:leases) as v
where session.id = json_extract(v.value, '$[0]') and session.fence = json_extract(v.value, '$[1]') and session.state = {RUNNING}
returning session.id, session.job

-- name: add_events
-- Adds rows to the feed; the one writer keeps them in order of commit.
insert into event (job, tenant, name, data, at) values (:job, :tenant, :name, :data, :at)

-- name: claim_deliveries
-- Gives out webhook messages that are due, the :each oldest of a tenant at most: first to tenants that have least under
-- way, among equals by chance. Walks from tenant to tenant, so that no backlog hides another's messages.
with recursive who (tenant) as (
  select * from (select tenant from delivery where state = {DELIVERY_WAITING} order by tenant limit 1) as first_tenant
  union all
  select (select n.tenant from delivery n where n.state = {DELIVERY_WAITING} and n.tenant > w.tenant order by n.tenant limit 1)
  from who w where w.tenant is not null),
due as (
  select d.id, coalesce(u.value, 0) + row_number() over (partition by w.tenant order by d.due_at, d.id) as place
  from who w left join json_each(:under_way) u on u.key = w.tenant
  cross join delivery d on d.id in (
    select m.id from delivery m
    where m.state = {DELIVERY_WAITING} and m.tenant = w.tenant and m.due_at <= :now order by m.due_at, m.id limit :each))
update delivery set due_at = :until, attempts = attempts + 1 where id in (
  select id from due where place <= :each order by place, random() limit :n)
returning *
