-- publish_begin (migration 0058) takes two leases: of the patient, and of the order or set itself. An order that is
-- given to another patient while it is published must not be published a second time beside that (docs/adr/0070).
-- Every publish takes them in this order, in one transaction that waits for nothing while it holds what it took.
create or replace function publish_begin(
  p_organisation_id uuid,
  p_target_id uuid,
  -- What is to be sent, or referred to.
  p_types text[],
  p_ids uuid[],
  -- What is leased beside the order or set itself: its patient.
  p_record_type text,
  p_record_id uuid,
  p_token uuid,
  p_lease_ms integer,
  -- The publish.
  p_facility_id uuid,
  p_subject_kind text,
  p_subject_id uuid,
  p_run_id uuid,
  p_account_id uuid,
  p_purpose_of_use text,
  p_correlation_id text,
  p_started_at timestamptz,
  -- What stopped before this is not gone on with.
  p_since timestamptz
)
returns table (
  run_chain_id uuid,
  resource_type text,
  local_id uuid,
  server_id text,
  version_id text,
  content_hash bytea,
  method text,
  status smallint,
  published_at timestamptz,
  chain_id uuid
)
language plpgsql
volatile
as $$
#variable_conflict use_column
declare
  v_last record;
  v_chain_id uuid := p_run_id;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'publish_begin needs the isolation level read committed';
  end if;

  insert into publish_lease as l (organisation_id, target_id, resource_type, record_id, token, leased_until)
  values (p_organisation_id, p_target_id, p_record_type, p_record_id, p_token,
    clock_timestamp() + p_lease_ms * interval '1 millisecond')
  on conflict (organisation_id, target_id, resource_type, record_id) do update
  set token = excluded.token,
      leased_until = excluded.leased_until
  where l.leased_until < clock_timestamp();
  if not found then
    return;
  end if;

  insert into publish_lease as l (organisation_id, target_id, resource_type, record_id, token, leased_until)
  values (p_organisation_id, p_target_id, p_subject_kind, p_subject_id, p_token,
    clock_timestamp() + p_lease_ms * interval '1 millisecond')
  on conflict (organisation_id, target_id, resource_type, record_id) do update
  set token = excluded.token,
      leased_until = excluded.leased_until
  where l.leased_until < clock_timestamp();
  if not found then
    -- Both or none: nobody waits for one while holding the other.
    delete from publish_lease
    where organisation_id = p_organisation_id
      and target_id = p_target_id
      and resource_type = p_record_type
      and record_id = p_record_id
      and token = p_token;
    return;
  end if;

  select r.id, r.chain_id, r.outcome, r.resumable, r.started_at
  into v_last
  from publish_run r
  where r.organisation_id = p_organisation_id
    and r.facility_id = p_facility_id
    and r.subject_kind = p_subject_kind
    and r.subject_id = p_subject_id
    and r.target_id = p_target_id
  order by r.begun_at desc, r.id desc
  limit 1;
  if v_last.outcome <> 'done' and v_last.resumable and v_last.started_at > p_since then
    v_chain_id := v_last.chain_id;
  end if;
  if v_last.outcome = 'running' then
    update publish_run
    set outcome = 'interrupted', finished_at = p_started_at
    where organisation_id = p_organisation_id
      and facility_id = p_facility_id
      and id = v_last.id;
  end if;

  insert into publish_run (organisation_id, facility_id, target_id, subject_kind, subject_id, id, account_id,
    purpose_of_use, correlation_id, started_at, chain_id)
  values (p_organisation_id, p_facility_id, p_target_id, p_subject_kind, p_subject_id, p_run_id, p_account_id,
    p_purpose_of_use, p_correlation_id, p_started_at, v_chain_id);

  return query
    select v_chain_id, asked.resource_type, asked.local_id, r.server_id, r.version_id, r.content_hash, r.method,
      r.status, r.published_at, r.chain_id
    from unnest(p_types, p_ids) as asked (resource_type, local_id)
    -- limit: one look-up by key for each, whatever the planner takes the size of the table for.
    cross join lateral (
      select p.server_id, p.version_id, p.content_hash, p.method, p.status, p.published_at, p.chain_id
      from publish_resource p
      where p.organisation_id = p_organisation_id
        and p.target_id = p_target_id
        and p.resource_type = asked.resource_type
        and p.local_id = asked.local_id
      limit 1
    ) r
    union all
    -- There is an answer where the target holds nothing.
    select v_chain_id, null, null, null, null, null, null, null, null, null;
end
$$;
