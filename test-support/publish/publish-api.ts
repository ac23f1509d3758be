/** The publish routes of an API beside a FHIR server; each test has an organisation and a laboratory order of its own. */
import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import { createFhirServer, type NewFhirServer } from '../../src/publish/servers/manage-fhir-servers.ts';
import { serveFhir, type TestFhirServer } from '../fhir-server/start.ts';
import { documentedCalls } from '../http/documented-answers.ts';
import { type Answer, startTestApi, type Tenant, type TestAccount, type TestApi } from '../service/api.ts';
import { createClinic, type PublishClinic } from './publish-records.ts';

/** For the tests of a file. */
export function usePublishApi(): PublishApi {
  const t = new PublishApi();
  before(() => t.open());
  after(() => t.close());
  beforeEach(() => t.begin());
  return t;
}

class PublishApi {
  api!: TestApi;
  server!: TestFhirServer;
  tenant!: Tenant;
  account!: TestAccount;
  clinic!: PublishClinic;
  /** Of the publishes of the laboratory order. */
  path!: string;
  documented!: Awaited<ReturnType<typeof documentedCalls>>;

  async open(): Promise<void> {
    this.api = await startTestApi();
    this.documented = await documentedCalls(this.api);
    this.server = await serveFhir('--no-integrity');
  }

  async close(): Promise<void> {
    await this.server.stop();
    await this.api.close();
  }

  async begin(): Promise<void> {
    await this.server.reset();
    this.tenant = await this.api.createTenant();
    this.account = await this.api.createAccount(this.tenant);
    const scope = { ...this.tenant, timeZone: 'UTC' };
    this.clinic = await createClinic(this.api.database.pool, { results: 3, scope });
    this.path = `/investigations/lab/orders/${this.clinic.orderId}/clinical/publish-fhir`;
  }

  addTarget(settings: Partial<NewFhirServer> = {}, secret?: string) {
    return createFhirServer(
      { db: this.api.database.pool, keys: this.api.keys },
      {
        organisationId: this.tenant.organisationId,
        settings: {
          name: 'main',
          base: this.server.base,
          auth: secret === undefined ? 'none' : 'bearer',
          ...settings,
        },
        secret,
        makeDefault: false,
      },
    );
  }

  /** Every answer must be one that the OpenAPI document describes. */
  async post(query = '', caller = this.account, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.api.call(this.path + query, { method: 'POST', token: caller.token, headers });
    return this.documented('POST', this.path, answer);
  }

  async get(query = ''): Promise<Answer> {
    return this.documented(
      'GET',
      this.path,
      await this.api.call(this.path + query, { token: this.account.token }),
    );
  }
}

export function isError({ status, json, text }: Answer, wanted: number, message?: RegExp): void {
  assert.equal(status, wanted, text);
  assert.deepEqual(Object.keys(json), ['statusCode', 'message', 'error']);
  if (message !== undefined) assert.match(json.message, message);
}
