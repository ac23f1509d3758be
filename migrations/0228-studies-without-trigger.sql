-- Only processes before the first release wrote the array of studies alone, and searched it by an index (docs/adr/0131,
-- docs/adr/0155).
drop function investigation_report_study_keep cascade;
drop index investigation_report_by_study;
