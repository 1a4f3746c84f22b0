-- SQLite: one writer at a time (BEGIN IMMEDIATE), so nothing needs a lock of its own.
-- It knows no figures of its tables: where it would take a longer index, the query names the right one.

-- name: reserve
-- Takes the next ids of some counters, so many each; gives the last of each.
insert into counter (name, value) select key, value from json_each(:counts) where true
on conflict (name) do update set value = counter.value + excluded.value
returning name, value

-- name: lock_jobs_of
-- The jobs of some sessions, as they stand. Without their specs, as `lock_jobs`: see PostgreSQL's.
select id, tenant, root, priority, politeness, status, cancel_requested, deadline_at, started_at, finished_at, error,
  expected, completed, terminated, failed, unsure, canceled, model_calls, prompt_tokens, completion_tokens,
  cached_tokens, pages, concurrency, expires_at, archive, in_totals, retry_below, incomplete
from job where id in (select job from session where id in (select value from json_each(:ids))) order by id

-- name: lock_jobs
-- Jobs as they stand; the writer's transaction is the lock.
select id, tenant, root, priority, politeness, status, cancel_requested, deadline_at, started_at, finished_at, error,
  expected, completed, terminated, failed, unsure, canceled, model_calls, prompt_tokens, completion_tokens,
  cached_tokens, pages, concurrency, expires_at, archive, in_totals, retry_below, incomplete
from job where id in (select value from json_each(:ids)) order by id

-- name: end_attempts
-- Ends an attempt: its state, outcome and checkpoint, guarded by its fence alone.
update session set state = :state, fence = fence + 1, attempt = attempt - :given_back, owner = null,
  lease_until = null, ready_at = :ready_at, outcome = coalesce(:outcome, outcome),
  found = :found, shown = :shown, checkpoint = case when :keep then checkpoint else :checkpoint end
where id = :id and fence = :fence

-- name: add_children
-- Stores one child of a loop.
insert into session (id, job, parent, depth, idx, path, domain, state, item, outcome)
values (:id, :job, :parent, :depth, :idx, :path, :domain, :state, :item, :outcome)

-- name: release_held
-- Lets the first :n held children of a parent go.
update session set state = {QUEUED}
where id in (select id from session where state = {HELD} and parent = :parent order by id limit :n)
returning id, domain

-- name: retrying
-- Jobs of which sessions are still to be reopened.
select id from job indexed by job_retrying where retry_below is not null

-- name: retriable
-- The last failed, terminated and canceled sessions of a job, of those below an id.
select id, parent, depth, state, children, domain from session indexed by session_retriable
where state in ({TERMINATED}, {FAILED}, {CANCELED}) and job = :job and id < :below order by id desc limit :n

-- name: reopen_loops
-- Writes a parent of which children were reopened; one that was over (`raised`) begins anew with its loop.
update session set state = :state, fence = fence + :raised, attempt = attempt * (1 - :raised), ready_at = null,
  pending_children = :pending, seats = :seats, stopped = (stopped and :raised = 0), reseating = :reseating
where id = :id

-- name: resume_emptied
-- Lets those parents of a job go on, from an id on, that wait for nothing.
update session set state = {QUEUED}, fence = fence + 1 where id in (
  select id from session indexed by session_emptied
  where state = {WAITING} and pending_children = 0 and job = :job and id >= :first limit :n)
returning id, domain

-- name: end_sessions
-- Ends those of some sessions that are not final, and running ones where that is asked for; an outcome replaces theirs.
update session set state = :state, fence = fence + 1, owner = null, lease_until = null, ready_at = null,
  outcome = coalesce(:outcome, outcome)
where id in (select value from json_each(:ids)) and (state in ({QUEUED}, {WAITING}, {DELAYED}, {HELD}) or (state = {RUNNING} and :running))
returning id, parent, children

-- name: held_of
-- Some held sessions of a job: from loop to loop, since they are indexed by it.
select s.id from session l cross join session s
where l.state = {WAITING} and l.job = :job and s.state = {HELD} and s.parent = l.id limit :n

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
where job = :job and parent not in (select id from session indexed by session_stopping where stopped and state = {WAITING})
order by first limit 1

-- name: ready_in
-- Some ready children of a loop that have not fanned out, in a range of ids: from domain to domain, as they are indexed.
with recursive queue_partition (domain) as (
  select * from (select domain from session where state = {QUEUED} and job = :job order by domain limit 1) as first_lane
  union all
  select (select n.domain from session n where n.state = {QUEUED} and n.job = :job and n.domain > l.domain
    order by n.domain limit 1) from queue_partition l where l.domain is not null)
select s.id from queue_partition l cross join session s
where s.state = {QUEUED} and s.job = :job and s.domain = l.domain and s.id between :first and :last
  and s.parent = :parent and s.children = 0 limit :n

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
select job, count(*) as n, sum(case when children = 0 then 1 else 0 end) as items from session
where state = {RUNNING} and job in (select value from json_each(:jobs)) group by job

-- name: lane_head
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
  lease_until = :until, ready_at = null
from json_each(:given) as v where session.id = json_extract(v.value, '$[0]')
returning session.id, fence, job, domain, attempt, depth, parent, item, checkpoint, children, first_child,
  loop_children, owner

-- name: start_jobs
-- Marks queued jobs as running.
update job set status = {RUNNING}, started_at = coalesce(started_at, :now)
where status = {QUEUED} and id in (select value from json_each(:ids))
returning id, tenant, expected, completed, terminated, failed, unsure, canceled

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
-- The first few children of some loops that are over and not completed, each loop in a range of ids.
select json_extract(v.value, '$[0]') as parent, s.item, s.outcome from json_each(:spans) v
cross join session s on s.id in (
  select c.id from session c
  where c.id between json_extract(v.value, '$[1]') and json_extract(v.value, '$[2]') and c.state <> {COMPLETED}
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

-- name: wake
-- Makes delayed sessions ready whose time has come.
update session set state = {QUEUED} where state = {DELAYED} and ready_at <= :now returning id

-- name: add_events
-- Adds rows to the feed; the one writer keeps them in order of commit.
insert into event (job, tenant, name, data, at) values (:job, :tenant, :name, :data, :at)

-- name: add_totals
-- Adds to the totals of a tenant.
insert into total (tenant, completed, terminated, failed, unsure, canceled)
values (:tenant, :completed, :terminated, :failed, :unsure, :canceled)
on conflict (tenant) do update set completed = completed + excluded.completed,
  terminated = terminated + excluded.terminated, failed = failed + excluded.failed,
  unsure = unsure + excluded.unsure, canceled = canceled + excluded.canceled

-- name: final_by_tenant
-- Items that are over, by tenant: from the totals, and from the jobs that these do not hold. Those are the open ones, and
-- such as a program has ended that knew of no totals.
select tenant, sum(completed) as completed, sum(terminated) as terminated, sum(failed) as failed,
  sum(unsure) as unsure, sum(canceled) as canceled
from (
  select tenant, completed, terminated, failed, unsure, canceled from total
  union all select tenant, completed, terminated, failed, unsure, canceled
  from job indexed by job_open where finished_at is null and not in_totals
  union all select tenant, completed, terminated, failed, unsure, canceled
  from job indexed by job_left_out where finished_at is not null and not in_totals) as part
group by tenant

-- name: add_deliveries
-- Puts a webhook's message into the outbox.
insert into delivery (tenant, job, event, url, body, state, due_at, created_at)
values (:tenant, :job, :event, :url, :body, :state, :at, :at)

-- name: add_hosts
-- Gives new host names an id.
insert into domain (host) select value from json_each(:hosts) where true on conflict (host) do nothing

-- name: add_jobs
-- Stores a job.
insert into job (id, tenant, key, spec, priority, politeness, root, status, deadline_at, created_at)
values (:id, :tenant, :key, :spec, :priority, :politeness, :root, 0, :deadline_at, :created_at)

-- name: add_labels
-- Stores a label of a job.
insert into job_label (name, value, job) values (:name, :value, :job)

-- name: add_roots
-- Stores the root session of a job.
insert into session (id, job, depth, idx, path, domain, state) values (:id, :job, 0, 0, '', :domain, :state)

-- name: specs_naming
-- The specs of those of some jobs that have a field of that name.
select id, spec from job where id in (select value from json_each(:ids)) and instr(spec, :name) > 0

-- name: extend_leases
-- Makes leases longer that had not run out when a dispatcher last looked, none of them beyond :most.
update session set lease_until = case when lease_until + :by < :most then lease_until + :by else :most end
where state = {RUNNING} and lease_until > :seen and lease_until < :most

-- name: shorten_leases
-- Cuts leases that would last longer than any may.
update session set lease_until = :most
where state = {RUNNING} and lease_until > :most

-- name: last_look
-- When a dispatcher last looked at the leases; the writer's transaction is the lock.
select at from state where name = :name

-- name: leases
-- Sessions as leases.
select id, job, domain, state, fence, owner, lease_until, attempt, checkpoint from session
where id in (select value from json_each(:ids)) order by id

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

-- name: lock_paces
-- How some domains are treated; the writer's transaction is the lock.
select * from pace where domain in (select value from json_each(:domains)) order by domain

-- name: add_paces
-- Makes the rows of domains that are asked for the first time.
insert into pace (domain) select value from json_each(:domains) where true on conflict (domain) do nothing

-- name: lock_robots
-- What is known of some origins' robots.txt; the writer's transaction is the lock.
select * from robots where origin in (select value from json_each(:origins)) order by origin

-- name: add_robots
-- Makes the rows of origins that are asked for the first time.
insert into robots (origin) select value from json_each(:origins) where true on conflict (origin) do nothing

-- name: prune_robots
-- Forgets some robots.txt that have run out and that nobody is fetching.
delete from robots where origin in (
  select origin from robots where expires_at < :now and fetching_until < :now order by expires_at limit :most)

-- name: allowance
-- What a tenant has left of its requests; the writer's transaction is the lock.
select level, at from allowance where tenant = :tenant

-- name: artifacts_of_alone
-- The artifacts of some sessions of a job whose content no others refer to.
select a.* from artifact a where a.job = :job and a.session in (select value from json_each(:ids))
  and not exists (select 1 from artifact o where o.key = a.key and o.id <> a.id
    and (o.job <> a.job or o.session not in (select value from json_each(:ids))))

-- name: lock_deleted
-- A job that is deleted, and of which something is left; the writer's transaction is the lock.
select job from deleted where job = :job
