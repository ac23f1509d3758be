-- Callbacks that people look for: the rejected ones and the conflicts, in the order of their list. What an exchange took is
-- the rule and is not in it, so that its callbacks cost no more.
create index exchange_callback_to_look_at on exchange_callback (organisation_id, facility_id, id)
  where status = 'rejected' or outcome = 'conflict';
