-- The list of skipped deliveries is in the order of their ids, so a decision has the id of its delivery, too. It is null where a
-- process of the version before decides beside this one: that skip is not in the list.
alter table exchange_review add column delivery_id uuid;
update exchange_review v
set delivery_id = d.id
from exchange_delivery d
where d.organisation_id = v.organisation_id
  and d.connection_id = v.connection_id
  and d.patient_id = v.patient_id
  and d.sequence = v.sequence;
create index exchange_review_skipped on exchange_review (organisation_id, delivery_id) where action = 'skip';
