-- Data keys seal secrets and seal the access log; the master key only wraps them (docs/adr/0085). One row for each
-- data key and each master key that can unwrap it: two master keys while one replaces the other.
create table data_key (
  -- Data keys are renewed by a rotation. The newest seals; older ones still open what they sealed.
  number integer not null check (number > 0),
  -- Tells master keys apart, and discloses nothing of them.
  master_key_id text not null,
  wrapped bytea not null,
  -- When this master key could unwrap this data key first.
  added_at timestamptz not null,
  primary key (number, master_key_id)
);
