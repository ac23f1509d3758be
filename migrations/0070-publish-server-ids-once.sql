-- An id that a target gave belongs to one record of ours. A target that was reset and counts from 1 again gives the
-- ids of others anew: whoever holds one from before must not write there (docs/adr/0050).

-- Of several holders, whoever was written there last keeps the id. For the others a search comes first.
update publish_resource r
set server_id = null,
    version_id = null,
    content_hash = null,
    chain_id = null
from (
  select organisation_id, target_id, resource_type, local_id,
    row_number() over (
      partition by organisation_id, target_id, resource_type, server_id
      order by published_at desc nulls last, local_id
    ) as place
  from publish_resource
  where server_id <> local_id::text
) ranked
where ranked.place > 1
  and r.organisation_id = ranked.organisation_id
  and r.target_id = ranked.target_id
  and r.resource_type = ranked.resource_type
  and r.local_id = ranked.local_id;

-- Ids of ours are ours alone, and not in it.
create unique index publish_resource_by_server_id
  on publish_resource (organisation_id, target_id, resource_type, server_id)
  where server_id <> local_id::text;
