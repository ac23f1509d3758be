-- Tests of a connection are few: none is sent before this time. While one is under way it is the time at which it is
-- given up.
alter table exchange_connection add column next_test_at timestamptz;
