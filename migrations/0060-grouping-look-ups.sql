-- An import asks for the panels of each result, and the reports of each study, right after it wrote them. What waits
-- in the pending list of a GIN index is read in full by every look-up, so these two do without.
alter index observation_by_member set (fastupdate = off);
alter index investigation_report_by_study set (fastupdate = off);
select gin_clean_pending_list('observation_by_member'::regclass),
  gin_clean_pending_list('investigation_report_by_study'::regclass);
