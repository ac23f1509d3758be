/** Callbacks of an exchange over real HTTP; each test has a tenant, a connection and a delivery of its own. */
import { createHmac } from 'node:crypto';
import { after, beforeEach } from 'node:test';
import type { CreatedConnection } from '../../src/exchange/connections/connection.schema.ts';
import { documentedCalls } from '../http/documented-answers.ts';
import { type Answer, startTestApi, type Tenant, type TestAccount } from '../service/api.ts';
import { connect, insertPatients, queue } from './exchange-records.ts';

interface Delivered {
  tenant: Tenant;
  account: TestAccount;
  connection: CreatedConnection;
  patientId: string;
  deliveryId: string;
}

/** For the tests of a file. */
export async function useCallbacks() {
  const api = await startTestApi();
  after(() => api.close());
  const documented = await documentedCalls(api);
  const pool = () => api.database.pool;
  const t = {} as Delivered;

  beforeEach(async () => {
    t.tenant = await api.createTenant();
    t.account = await api.createAccount(t.tenant);
    t.connection = await connect({ pool: pool(), keys: api.keys }, t.tenant, {
      address: 'https://hie.example.org/in',
    });
    [t.patientId = ''] = await insertPatients(pool(), t.tenant, 1);
    t.deliveryId = await deliver([t.patientId]);
  });

  /** Queue patients and return the newest delivery's id. */
  async function deliver(ids: string[]): Promise<string> {
    await queue(pool(), t.tenant, ids);
    const { rows } = await pool().query<{ id: string }>(
      'select id from exchange_delivery where organisation_id = $1 order by id desc limit 1',
      [t.tenant.organisationId],
    );
    return rows[0]?.id ?? '';
  }

  const sign = (body: string | Uint8Array, secret = t.connection.callbackSecret) =>
    createHmac('sha256', secret).update(body).digest('hex');

  /** Every answer must be one that the OpenAPI document describes. */
  async function callback(
    body: unknown,
    {
      headers = {},
      id = t.connection.id,
      signature,
    }: { headers?: Record<string, string>; id?: string; signature?: string | null } = {},
  ): Promise<Answer> {
    const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const signed = signature === undefined ? sign(bytes) : signature;
    const path = `/exchange/connections/${id}/callback`;
    const answer = await api.call(path, {
      method: 'POST',
      body: bytes,
      headers: {
        'content-type': 'application/json',
        ...(signed === null ? {} : { 'x-signature': signed }),
        ...headers,
      },
    });
    return documented('POST', path, answer);
  }

  const accepted = (assignedId = 'HIE-1', more: object = {}) => ({
    deliveryId: t.deliveryId,
    status: 'accepted',
    assignedId,
    ...more,
  });

  /** Callbacks and assigned ids of the tenant. */
  async function counts() {
    const { rows } = await pool().query<{ callbacks: number; ids: number }>(
      `select (select count(*) from exchange_callback where organisation_id = $1) as callbacks,
         (select count(*) from patient_assigned_identifier where organisation_id = $1) as ids`,
      [t.tenant.organisationId],
    );
    return [rows[0]?.callbacks, rows[0]?.ids];
  }

  return { t, api, pool, sign, callback, accepted, counts };
}
