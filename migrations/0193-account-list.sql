-- Lists of accounts are as quick in an organisation of many (docs/adr/0150). Each index is one way to the accounts that a
-- filter means. They are partial, so that the planner takes each only for a statement that names its condition.
create index account_disabled on account (organisation_id, user_type, id) where disabled_at is not null;
create index account_enabled on account (organisation_id, user_type, requires_password_setup, must_change_password, id)
  where disabled_at is null;

-- An address is found by the start of each of its first four words, and of its domain. account_directory_listed has the first.
create index account_directory_second_word
  on account_directory (organisation_id, (substring(email from '[._+@-](.*)$')) collate "C", user_id)
  where substring(email from '[._+@-](.*)$') is not null;
create index account_directory_third_word
  on account_directory (organisation_id, (substring(email from '[._+@-][^._+@-]*[._+@-](.*)$')) collate "C", user_id)
  where substring(email from '[._+@-][^._+@-]*[._+@-](.*)$') is not null;
create index account_directory_fourth_word
  on account_directory (organisation_id, (substring(email from '[._+@-][^._+@-]*[._+@-][^._+@-]*[._+@-](.*)$')) collate "C", user_id)
  where substring(email from '[._+@-][^._+@-]*[._+@-][^._+@-]*[._+@-](.*)$') is not null;
create index account_directory_domain
  on account_directory (organisation_id, (substring(email from '@(.*)$')) collate "C", user_id)
  where substring(email from '@(.*)$') is not null;

-- Whether anybody is locked at all.
create index sign_in_counter_locked on sign_in_counter (locked_until) where locked_until is not null;
