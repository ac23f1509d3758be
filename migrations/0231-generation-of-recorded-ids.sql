-- The ids that are valid at a target are those of its generation. A publish under way may record ids of a server whose
-- address the target no longer has: they are of the generation before.
alter table publish_target add column ids_generation integer not null default 1;
alter table publish_resource add column ids_generation integer not null default 1;

-- An id belongs to one record of a generation: at the server of another address it may be that of another record.
drop index publish_resource_by_server_id;
create unique index publish_resource_by_server_id
  on publish_resource (organisation_id, target_id, ids_generation, resource_type, server_id)
  where server_id <> local_id::text;
