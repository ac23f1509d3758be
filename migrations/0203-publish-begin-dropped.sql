-- A publish begins by plain statements (docs/adr/0106), and no running version calls this function any more. What a function
-- does is not seen by the check of statements (docs/adr/0130).
drop function publish_begin;
