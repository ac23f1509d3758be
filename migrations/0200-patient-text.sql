-- What a list shows of a patient, as JSON text (docs/adr/0117). The text counts while `rendered_version` is the version of
-- the row and `rendered_mapping` that of the program. The columns stay the truth: the text may be emptied.
alter table patient
  add column rendered text,
  add column rendered_version bigint,
  add column rendered_mapping integer;
-- A row with its text stays in one piece: a page of a search would fetch and expand twenty values otherwise.
alter table patient set (toast_tuple_target = 4080);
