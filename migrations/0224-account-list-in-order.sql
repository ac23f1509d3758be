-- Accounts are listed in the order of their addresses, whatever the filter (docs/adr/0154). Without these indexes a process
-- of the version before lists them more slowly, and as well.
drop index account_disabled, account_enabled, account_directory_second_word, account_directory_third_word,
  account_directory_fourth_word, account_directory_domain;
