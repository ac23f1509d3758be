-- The ids that are valid at a target are those of its generation. A publish under way may record ids of a server whose
-- address the target no longer has: they are of the generation before.
alter table publish_target add column ids_generation integer not null default 1;
alter table publish_resource add column ids_generation integer not null default 1;
