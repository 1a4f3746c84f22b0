-- The moments in which sessions began and ended an action that must not be repeated, by the database's own clock.
-- Only in the database of a chaos cluster: the store itself has no use for them.

create table chaos_mark (
  session bigint not null,
  at double precision not null, -- seconds since the epoch
  worker text,                  -- that held the lease
  action text not null          -- '': none is marked any more
);

create function chaos_action(checkpoint text) returns text language sql immutable as
  $$ select coalesce(substring(checkpoint from '"pending_action": ?"([^"]*)"'), '') $$;

create function chaos_note() returns trigger language plpgsql as $$
begin
  insert into chaos_mark values (
    new.id, extract(epoch from clock_timestamp()), coalesce(new.owner, old.owner),
    case when new.state = 1 then chaos_action(new.checkpoint) else '' end
  );
  return null;
end $$;

create trigger chaos_note after update on session for each row
  when (chaos_action(new.checkpoint) <> '' or chaos_action(old.checkpoint) <> '')
  execute function chaos_note();
