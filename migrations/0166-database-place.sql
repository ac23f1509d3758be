-- Which database of which server the service last ran on. A dump that is restored elsewhere brings along what it says of
-- the database that it was made of, so that a copy is noticed (docs/backup.md). Written by the owner of the schema alone
-- (grants.sql).
create table database_place (
  single_row boolean primary key default true check (single_row),
  place text not null
);
