-- The key of the access log has its columns in the order in which chains are read, so that an entry is written into two
-- indexes and not into three. Nothing reads by the order that the key had.
alter table access_log
  drop constraint access_log_pkey,
  add primary key (organisation_id, writer_id, sequence, occurred_at);
drop index access_log_chain;
