-- Without statistics the planner took this index for as good as the primary key, and read all of a facility's listings
-- for each report. It now serves only look-ups that name the result.
drop index investigation_report_result_by_observation;
create index investigation_report_result_by_observation
  on investigation_report_result (organisation_id, facility_id, observation_id)
  where observation_id is not null;
