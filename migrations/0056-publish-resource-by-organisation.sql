-- What a target holds of ours is known once for an organisation, whatever facility published it: practitioners,
-- organisations, locations and patients are shared by facilities (design section 4; docs/adr/0056).
delete from publish_resource r
using (
  select organisation_id, facility_id, target_id, resource_type, local_id,
    row_number() over (
      partition by organisation_id, target_id, resource_type, local_id
      -- An id is better than a create in doubt, and the one that was written last better than an older one.
      order by server_id is null, published_at desc nulls last, facility_id
    ) as place
  from publish_resource
) ranked
where ranked.place > 1
  and r.organisation_id = ranked.organisation_id
  and r.facility_id = ranked.facility_id
  and r.target_id = ranked.target_id
  and r.resource_type = ranked.resource_type
  and r.local_id = ranked.local_id;

-- The primary key and the reference to the facility go with the column.
alter table publish_resource drop column facility_id;
alter table publish_resource add primary key (organisation_id, target_id, resource_type, local_id);
