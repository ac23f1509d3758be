-- Accounts are listed in the order of their addresses, whatever the filter (docs/adr/0154). Without these indexes a process
-- of the version before lists them more slowly, and as well. Citus drops one index by a statement.
drop index account_disabled;
drop index account_enabled;
drop index account_directory_second_word;
drop index account_directory_third_word;
drop index account_directory_fourth_word;
drop index account_directory_domain;
