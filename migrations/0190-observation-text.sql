-- An Observation as FHIR R4 JSON text with slots (docs/adr/0148). The text counts while `rendered_version` is the version
-- of the row and `rendered_mapping` that of the program. The columns stay the truth: the text may be emptied.
alter table observation
  add column rendered text,
  add column rendered_version bigint,
  add column rendered_mapping integer;
-- A row with its text stays in one piece: an order would fetch and expand forty values otherwise.
alter table observation set (toast_tuple_target = 4080);
