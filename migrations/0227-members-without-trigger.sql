-- Only processes before the first release wrote the array of members alone, and searched it by an index (docs/adr/0131,
-- docs/adr/0155). Studies of reports are the next migration: an import under way has one of the two tables and waits for the
-- other.
drop function observation_member_keep cascade;
drop index observation_by_member;
