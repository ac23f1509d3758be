-- What an import was: the name that whoever began it gave its file, and what stood in it (docs/adr/0151).
alter table import_run
  add column file_name text check (char_length(file_name) between 1 and 200),
  -- Null: more than one of these, or nothing of the kind.
  add column content text check (content in ('bundle', 'resource', 'lines'));
