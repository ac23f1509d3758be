-- Whom a made-up order that is gone was about: its id leads to no order of another patient. Null for those that went before.
alter table replaced_order add column patient_id uuid;
