/**
 * What calls read for an organisation that came after the statistics, which know nothing of it: what they are about, not
 * all that the organisation has.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { renderOrders } from '../src/investigations/kept/render-orders.ts';
import { createWorkWatch } from '../src/tenancy/organisations/organisation-work.ts';
import { neverAnalyze } from '../test-support/database/never-analyzed.ts';
import { needsPlainPostgres } from '../test-support/database/plain-postgres.ts';
import { rowsRead, tellRead } from '../test-support/database/rows-read.ts';
import { startFhirServer, type TestFhirServer } from '../test-support/fhir-server/start.ts';
import { addressOf, sampleRequest } from '../test-support/http/route-requests.ts';
import { startTestApi, type TestApi, type TestNode } from '../test-support/service/api.ts';
import {
  type CalledRecords,
  type FilledOrganisation,
  fillOrganisation,
} from '../test-support/service/filled-organisation.ts';
import { PASSWORD } from '../test-support/sign-in/sign-in.ts';
import { waitUntil } from '../test-support/wait-until.ts';

const PLAIN = needsPlainPostgres('a node counts what it reads, and the coordinator does not know');
const PATIENTS = 200;
/** A statement that is planned for its values five times may be planned for all values then. */
const TIMES = 10;

/** Calls that read more than a page of something on purpose, by the end of their path. */
const READ_MORE: Readonly<Record<string, string>> = {
  '/patients/base': 'up to 1,000 patients are sorted, where no word is searched for',
  '/overview': 'counts',
  '/publish/targets': 'looks at the newest 200 publishes of each',
  '/exchange/connections': 'has no pages',
  '/exchange/connections/:connectionId': 'is the list with one of them',
  '/terminology/maps/export': 'has no pages',
  '/terminology/unmapped': 'is sorted by counts',
  '/terminology/unmapped/suggestions': 'looks at all maps',
  '/terminology/unmapped/example': 'codes have no index',
  '/accounts': 'up to 1,000 accounts are sorted',
  '/fhir/Specimen/:resourceId': 'looks for orders by the specimens in their lists',
  '/exchange/callbacks':
    'sorts a few hundred callbacks where there are no statistics, or reads a page in order',
  '/roles': 'sorts a few hundred roles where there are no statistics, or reads a page in order',
};

let api: TestApi;
let owner: pg.Client;
let fhirServer: TestFhirServer;
before(async () => {
  api = await startTestApi({ env: { PUBLISH_ALLOW_PRIVATE_NETWORKS: 'true' } });
  fhirServer = await startFhirServer();
  owner = new pg.Client({ connectionString: api.database.url });
  await owner.connect();
  await neverAnalyze(owner);
  // Tables of a few pages are scanned with good reason, and would hide which index is read.
  const { rows } = await owner.query<{ name: string }>('select current_database() as name');
  await owner.query(`alter database ${rows[0]?.name} set enable_seqscan = off`);
});
after(async () => {
  await owner.end();
  await fhirServer.stop();
  await api.close();
});

type Call = (index: number) => Promise<{ status: number; text: string }>;

/** Each with its name. Some need what those before have done. */
function callsOf(node: TestNode, organisation: FilledOrganisation): [string, Call][] {
  return [
    ...routesOf(node, organisation),
    ...searchesOf(node, organisation),
    ...publishesOf(node, organisation),
    ...signInsOf(node, organisation),
    ['POST callback', callback(node, organisation)],
    ['the background renders an order', rendering(node, organisation)],
  ];
}

/** Every GET of the API but those that say why not. */
function routesOf(node: TestNode, { account, seeds }: FilledOrganisation): [string, Call][] {
  return node.api.routes
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/api/v1/'))
    .filter(({ path }) => READ_MORE[path.replace('/api/v1', '')] === undefined)
    .map((entry) => [
      entry.path,
      (index) =>
        node.call(node.origin + addressOf(sampleRequest(entry, seeds[index] as CalledRecords)), {
          token: account.token,
        }),
    ]);
}

function searchesOf(node: TestNode, { account, seeds }: FilledOrganisation): [string, Call][] {
  const { token } = account;
  const paths: Record<string, (of: CalledRecords) => string> = {
    'patients by name': ({ family }) => `/patients/base?search=${family}`,
    'patients by a name of all': () => '/patients/base?search=Ada',
    'patients by identifier': ({ identifier }) => `/patients/base?search=${identifier}`,
    'access log from': ({ patientId }) => `/patients/base/${patientId}/access-log?from=2020-01-01`,
    'access log by action': ({ patientId }) => `/patients/base/${patientId}/access-log?action=patient.read`,
    'Encounter _id': ({ patientId, encounterId }) =>
      `/encounters/fhir/Encounter?patient=${patientId}&_id=${encounterId}`,
  };
  for (const more of [
    'status=finished',
    'date=ge2019-01-01',
    'date=le2030-01-01',
    'date=2020-01-02',
    '_count=100',
  ])
    paths[`Encounter ${more}`] = ({ patientId }) => `/encounters/fhir/Encounter?patient=${patientId}&${more}`;
  return Object.entries(paths).map(([name, path]) => [
    name,
    (index) => node.call(`${path(seeds[index] as CalledRecords)}&purposeOfUse=TREATMENT`, { token }),
  ]);
}

function publishesOf(node: TestNode, { account, seeds }: FilledOrganisation): [string, Call][] {
  const paths: Record<string, (of: CalledRecords) => string> = {
    lab: ({ labOrderId }) => `/investigations/lab/orders/${labOrderId}`,
    imaging: ({ imagingOrderId }) => `/investigations/imaging/orders/${imagingOrderId}`,
    vitals: ({ vitalSetId }) => `/encounters/vitals/${vitalSetId}`,
  };
  return ['POST publish', 'POST publish again'].flatMap((name) =>
    Object.entries(paths).map(([kind, path]): [string, Call] => [
      `${name} ${kind}`,
      (index) =>
        node.call(`${path(seeds[index] as CalledRecords)}/clinical/publish-fhir?purposeOfUse=TREATMENT`, {
          token: account.token,
          method: 'POST',
        }),
    ]),
  );
}

function signInsOf(node: TestNode, { emails }: FilledOrganisation): [string, Call][] {
  const users: string[] = [];
  const tokens: string[] = [];
  const userType = 'EHR';
  return [
    [
      'verify',
      async (index) => {
        const answer = await node.call('/auth/verify', { body: { email: emails[index], userType } });
        users.push(answer.json.userId);
        return answer;
      },
    ],
    [
      'login',
      async (index) => {
        const body = { identity: users[index], credential: PASSWORD, userType };
        const answer = await node.call('/auth/login', { body });
        tokens.push(answer.json.refreshToken);
        return answer;
      },
    ],
    ['refresh', (index) => node.call('/auth/refresh', { body: { refreshToken: tokens[index] } })],
  ];
}

function callback(node: TestNode, { connection, deliveryIds }: FilledOrganisation): Call {
  return (index) => {
    const body = JSON.stringify({
      deliveryId: deliveryIds[index],
      status: 'accepted',
      assignedId: `HIE-${index}`,
    });
    const signature = createHmac('sha256', connection.callbackSecret).update(body).digest('hex');
    return node.call(`/exchange/connections/${connection.id}/callback`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-signature': signature },
    });
  };
}

const renderChanged = ({ runtime }: TestNode) =>
  renderOrders({ db: runtime.background, work: createWorkWatch().of('test') });

function rendering(node: TestNode, { account, seeds }: FilledOrganisation): Call {
  return async (index) => {
    await owner.query(
      `update investigation_order set rendered_version = null
      where organisation_id = $1 and facility_id = $2 and id = $3`,
      [account.organisationId, account.facilityId, seeds[index]?.labOrderId],
    );
    await renderChanged(node);
    return { status: 200, text: '' };
  };
}

for (const [source, when] of [
  ['first', 'before there are statistics'],
  ['later', 'with statistics of other organisations'],
] as const)
  test(
    `a call reads what it is about, however much the organisation has: ${when} [HTTP-33]`,
    PLAIN,
    async () => {
      const filling = { source, patients: PATIENTS, told: TIMES, fhirServer: fhirServer.base };
      const organisation = await fillOrganisation(api, filling);
      const node = await api.addNode();
      const { db, background, owner: owning } = node.runtime;
      await tellRead(db, background, owning, api.database.pool, api.runtime.db, api.runtime.background);
      // As the background leaves orders that it cannot keep: their fetches make and keep the texts.
      await owner.query('update investigation_order set rendered_version = version');
      // The index of orders to be rendered still has them. A scan drops them, once no older transaction is open.
      await waitUntil(async () => {
        const before = await rowsRead(owner);
        await renderChanged(node);
        await tellRead(background);
        const [was, is] = [before, await rowsRead(owner)].map((rows) => rows.get('investigation_order') ?? 0);
        return is === was;
      });
      const tooMuch: string[] = [];
      for (const [name, call] of callsOf(node, organisation)) {
        const before = await rowsRead(owner);
        for (let index = 0; index < TIMES; index += 1) {
          const { status, text } = await call(index);
          assert.ok(status < 400, `${name}: ${status} ${text}`);
        }
        await tellRead(db, background, owning);
        for (const [table, rows] of await rowsRead(owner)) {
          const read = (rows - (before.get(table) ?? 0)) / TIMES;
          // Half of the calls reading all that there is of one kind.
          if (read > PATIENTS / 2 - 5) tooMuch.push(`${name}: ${read} rows of ${table}`);
        }
      }
      await node.close();
      await owner.query('analyze');
      assert.deepEqual(tooMuch, []);
    },
  );
