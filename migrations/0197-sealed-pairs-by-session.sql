-- A refresh looks for the sealed pairs of its session. By time alone it would read those of all sessions that were
-- refreshed lately. Only these are in the index, so the sweep, which goes by time, finds its own in it as well.
create index refresh_token_sealed on refresh_token (organisation_id, session_id, exchanged_at)
  where sealed_replacement is not null and exchanged_at is not null;
-- Without it a process of the version before works as well.
drop index refresh_token_replaced;
