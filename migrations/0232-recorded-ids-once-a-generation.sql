-- An id belongs to one record of a generation: at the server of another address it may be that of another record.
drop index publish_resource_by_server_id;
create unique index publish_resource_by_server_id
  on publish_resource (organisation_id, target_id, ids_generation, resource_type, server_id)
  where server_id <> local_id::text;
