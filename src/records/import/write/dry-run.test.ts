/** A dry run: it reports what an import would, keeps nothing, and nobody waits for it. */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import { member, parseStatements, walk } from '../../../../scripts/statement-tree.ts';
import { connect, queue } from '../../../../test-support/exchange/exchange-records.ts';
import { startFhirServer, type TestFhirServer } from '../../../../test-support/fhir-server/start.ts';
import { createClinic, type PublishClinic } from '../../../../test-support/publish/publish-records.ts';
import {
  bundle,
  conditionalCreate,
  encounter,
  identifierOf,
  NUMBER,
  patient,
  practitioner,
  type Resource,
} from '../../../../test-support/records/clinic.ts';
import { createImportTest, type ImportTest, lines } from '../../../../test-support/records/import.ts';
import {
  type Answer,
  startTestApi,
  type TestAccount,
  type TestApi,
} from '../../../../test-support/service/api.ts';
import { waitUntil } from '../../../../test-support/wait-until.ts';
import type { CreatedConnection } from '../../../exchange/connections/connection.schema.ts';
import { enqueuePatientChanges } from '../../../exchange/queue/enqueue-patient-changes.ts';
import { createFhirServer } from '../../../publish/servers/manage-fhir-servers.ts';
import { importRecords } from '../import-records.ts';
import { IMPORTERS } from '../map/importers.ts';
import { inDryRun } from '../run/import-transaction.ts';
import { memorySpool, type Spool } from '../source/spool.ts';

const LABORATORY = [
  { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }] },
];

describe('while a dry run is held open in the middle', () => {
  let api: TestApi;
  let server: TestFhirServer;
  let account: TestAccount;
  let clinic: PublishClinic;
  let connection: CreatedConnection;
  before(async () => {
    api = await startTestApi();
    server = await startFhirServer('--no-integrity');
  });
  after(async () => {
    await server.stop();
    await api.close();
  });
  beforeEach(async () => {
    await server.reset();
    const tenant = await api.createTenant();
    account = await api.createAccount(tenant);
    clinic = await createClinic(api.database.pool, { results: 3, scope: { ...tenant, timeZone: 'UTC' } });
    const { pool } = api.database;
    connection = await connect({ pool, keys: api.keys }, tenant, { address: 'https://hie.example.org/in' });
    await queue(pool, tenant, [clinic.patientId]);
    const settings = { name: 'main', base: server.base, auth: 'none' as const };
    await createFhirServer(
      { db: pool, keys: api.keys },
      { organisationId: tenant.organisationId, settings, secret: undefined, makeDefault: false },
    );
  });

  const known = () => patient({ id: clinic.patientId, name: [{ family: 'Changed' }] });
  const fresh = patient();
  const result = (id: string) => ({
    resourceType: 'Observation',
    id,
    status: 'amended',
    code: { text: 'Changed' },
    subject: { reference: `Patient/${clinic.patientId}` },
    category: LABORATORY,
    valueString: 'x',
  });
  const visit = () => encounter(`Patient/${clinic.patientId}`, { id: clinic.encounterId });
  const records = () => [known(), fresh, visit(), ...clinic.observationIds.map(result)];

  for (const [where, text] of [
    ['in a Bundle', () => JSON.stringify(bundle([...records(), conditionalCreate(patient(numbered))]))],
    ['in lines', () => lines(records())],
  ] as const)
    test(`${where}: privacy, a callback, the same import and a publish go through [IN-30]`, async () => {
      const held = heldSpool(Buffer.from(text()));
      const dry = importRecords(
        { db: api.database.pool, onPatientsChanged: enqueuePatientChanges },
        {
          scope: clinic.scope,
          sources: [{ name: 'held', sizeBytes: 1, open: async () => held.spool }],
          dryRun: true,
        },
      );
      await Promise.race([held.reached, dry]);
      try {
        await passes(setPrivacy());
        await passes(callBack());
        await passes(
          api.call('/imports/fhir', { token: account.token, body: bundle([...records(), other()]) }),
          { rejectedCount: 0 },
        );
        await passes(
          api.call(`/investigations/lab/orders/${clinic.orderId}/clinical/publish-fhir`, {
            method: 'POST',
            token: account.token,
          }),
        );
      } finally {
        held.release();
      }
      const { document } = await dry;
      assert.deepEqual(document.rejected, []);
    });

  const numbered = { identifier: [{ system: NUMBER, value: `PAT-${randomUUID()}` }] };
  /** Another record under the condition of the dry run. */
  const other = () => conditionalCreate(patient(numbered));

  const setPrivacy = () =>
    api.call(`/patients/base/${clinic.patientId}/privacy`, {
      method: 'PUT',
      token: account.token,
      body: { refusedPurposes: ['RESEARCH'] },
    });

  async function callBack(): Promise<Answer> {
    const { rows } = await api.database.pool.query({
      text: 'select id from exchange_delivery where organisation_id = $1',
      values: [account.organisationId],
    });
    const body = JSON.stringify({ deliveryId: rows[0].id, status: 'accepted', assignedId: 'HIE-1' });
    const signature = createHmac('sha256', connection.callbackSecret).update(body).digest('hex');
    return api.call(`/exchange/connections/${connection.id}/callback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-signature': signature },
      body,
    });
  }

  /** The answer is 200; fails when something waits for a lock and goes on waiting. */
  async function passes(answer: Promise<Answer>, members: object = {}): Promise<void> {
    const watch = { ended: false };
    const first = await Promise.race([answer, lastingWait(watch)]);
    watch.ended = true;
    if (typeof first === 'string') assert.fail(first);
    assert.equal(first.status, 200, first.text);
    assert.partialDeepStrictEqual(first.json, members);
  }

  async function lastingWait(watch: { ended: boolean }): Promise<string> {
    let seen = 0;
    return waitUntil(async () => {
      if (watch.ended) return 'ended';
      const { rows } = await api.database.pool.query({
        text: `select l.locktype, l.relation::regclass::text as relation
          from pg_locks l
          join pg_stat_activity a using (pid)
          where not l.granted and a.datname = current_database()`,
      });
      seen = rows.length > 0 ? seen + 1 : 0;
      return seen === 100 && `waits for the dry run: ${JSON.stringify(rows)}`;
    }, 'the answer, or something that waits for the dry run');
  }
});

describe('what a dry run reports', () => {
  let t: ImportTest;
  before(async () => {
    t = await createImportTest();
  });
  after(() => t.database.drop());

  test('is what the import then does, where files build on what is stored and on each other [IN-24]', async () => {
    const [doctor, someone, twin] = [practitioner(), patient(), patient()];
    const visit = encounter(`Patient/${someone.id}`, { participant: [participant(doctor)] });
    const result = laboratory('r-1', someone);
    const replaced = patient();
    const survivor = patient({
      link: [{ type: 'replaces', other: { reference: `Patient/${replaced.id}` } }],
    });
    await t.run([bundle([doctor, someone, visit, replaced, survivor]), result]);
    const moved = { identifier: [{ system: NUMBER, value: `PAT-${randomUUID()}` }] };
    const files = [
      // The same, changed, changed back, and new.
      bundle([doctor, someone, { ...visit, status: 'cancelled' }, twin]),
      lines([{ ...visit, status: 'finished' }, visit, laboratory('r-2', someone)]),
      // An identifier that moves: the old one finds nobody any more, the new one the same patient.
      bundle([{ ...someone, ...moved }]),
      bundle([conditionalCreate(patient({ identifier: someone.identifier }))]),
      bundle([conditionalCreate(patient(moved))]),
      bundle([conditionalCreate(practitioner({ identifier: doctor.identifier }))]),
      bundle([conditionalCreate(practitioner()), { ...doctor, name: [{ family: 'Renamed' }] }]),
      encounter(`Patient?identifier=${NUMBER}|${moved.identifier[0]?.value}`, {
        participant: [participant(practitioner())],
      }),
      // To be looked at: a patient who was replaced, and an identifier that another patient has.
      encounter(`Patient/${replaced.id}`),
      patient({ identifier: survivor.identifier }),
      // Refused: another person, a link to another patient, and what has no patient. r-3 waits until r-2 is of its patient.
      { ...twin, name: [{ family: 'Stone' }], gender: 'male', birthDate: '1950-12-31' },
      { ...laboratory('r-3', twin), hasMember: [{ reference: 'Observation/r-2' }] },
      laboratory('r-2', twin),
      { ...laboratory('r-4', someone), hasMember: [{ reference: 'Observation/r-2' }] },
      encounter('Patient/none'),
      bundle([patient(), { resourceType: 'Claim', id: 'c' }, encounter('Patient/none')]),
    ];
    const before = await stored();
    const dry = await t.run(files, { dryRun: true });
    assert.deepEqual(await t.run(files, { dryRun: true }), dry);
    assert.deepEqual(await stored(), before);
    assert.deepEqual(dry, await t.run(files));
    assert.ok(dry.rejectedCount >= 4, JSON.stringify(dry.rejected));
    assert.equal(dry.noticeCount, 2, JSON.stringify(dry.notices));
    // Now everything is there.
    assert.deepEqual(await t.run(files, { dryRun: true }), await t.run(files));
  });

  test('names what is about a replaced patient, whichever of the two says so [IN-24, IN-35]', async () => {
    const [survivor, last] = [patient(), patient()];
    const replaced = patient({ link: [replacedBy(survivor)] });
    const first = patient({ link: [replacedBy(replaced)] });
    const replacing = patient({
      link: [{ type: 'replaces', other: { reference: `Patient/${last.id}` } }],
    });
    await t.run([bundle([survivor, replaced, first, last, replacing])]);
    // The others are in no file.
    const files = [replaced, first, last, survivor].map(({ id }) => encounter(`Patient/${id}`));
    const dry = await t.run(files, { dryRun: true });
    assert.deepEqual(
      dry.notices.map(({ file }) => file),
      ['0.json', '1.json', '2.json'],
    );
    assert.deepEqual(dry, await t.run(files));
  });

  test('leaves the last entry of a record, where an earlier one has waited [IN-24, IN-34]', async () => {
    const someone = patient();
    const visit = encounter(`Patient/${someone.id}`);
    const shared = practitioner();
    const files = [
      bundle([
        { ...visit, status: 'planned' },
        { ...shared, name: [{ family: 'Former' }] },
      ]),
      bundle([someone, visit, shared]),
      bundle([shared]),
    ];
    const dry = await t.run(files, { dryRun: true });
    assert.deepEqual(dry.unchanged, { Encounter: 1, Practitioner: 2 });
    assert.deepEqual(dry, await t.run(files));
  });

  test('joins what waits since an earlier import [IN-24, IN-37, IN-35]', async () => {
    const survivor = patient();
    const someone = patient({ link: [replacedBy(survivor)] });
    const visit = encounter(`Patient/${someone.id}`);
    const late = practitioner();
    const waiting = {
      ...laboratory('r-11', someone),
      encounter: { reference: `Encounter/${visit.id}` },
      performer: [{ reference: `Practitioner/${late.id}` }],
    };
    await t.run([bundle([survivor, someone]), waiting]);
    // Once for the visit, once for the practitioner, and no more.
    const files = [
      visit,
      late,
      { ...visit, status: 'cancelled' },
      { ...late, name: [{ family: 'Renamed' }] },
    ];
    const before = await stored();
    const dry = await t.run(files, { dryRun: true });
    assert.deepEqual(await stored(), before);
    const joined = dry.notices.filter(({ reason }) => reason.includes('waited for'));
    assert.deepEqual(
      joined.map(({ file }) => file),
      ['0.json', '1.json'],
    );
    assert.deepEqual(dry, await t.run(files));
  });

  test('takes again at the end only what still misses a record [IN-24, IN-37]', async () => {
    const [someone, other] = [patient(), patient()];
    await t.run([bundle([someone, other])]);
    const visit = encounter(`Patient/${other.id}`);
    const result = laboratory('r-10', someone);
    const files = [
      { ...result, encounter: { reference: `Encounter/${visit.id}` } },
      { ...result, meta: { lastUpdated: '2024-06-01T10:00:00Z' } },
      visit,
    ];
    const dry = await t.run(files, { dryRun: true });
    assert.deepEqual(dry.rejected, []);
    assert.deepEqual(dry, await t.run(files));
  });

  test('no statement joins its tables with stored ones, which lie on other machines in a distributed database, or has less than a whole key [IN-24, IN-53, OPS-25]', async (test) => {
    const someone = patient();
    await t.run([bundle([practitioner(), someone])]);
    const texts = new Set<string>();
    const { query } = pg.Client.prototype;
    test.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...given: unknown[]) {
      const [statement] = given as [string | { text: string }];
      texts.add(typeof statement === 'string' ? statement : statement.text);
      return query.apply(this, given as never);
    });
    const files = [
      bundle([someone, encounter(`Patient/${someone.id}`), laboratory('r-9', someone)]),
      bundle([conditionalCreate(patient({ identifier: someone.identifier, link: [replacedBy(someone)] }))]),
      patient({ link: [replacedBy(someone)] }),
      encounter(`Patient?identifier=${NUMBER}|${identifierOf(someone)?.value}`),
    ];
    const { rejected } = await t.run(files, { dryRun: true });
    assert.deepEqual(rejected, []);
    const copied = new Set(namesOf([...texts].find((text) => text.startsWith('create temp table')) ?? ''));
    assert.ok(copied.has('patient') && copied.has('directory_identifier'), [...copied].join());
    const isCopy = (text: string) => text.trim().startsWith('insert into pg_temp.');
    const isOwn = (name: string) => name.startsWith('pg_temp.') || copied.has(name);
    const mixed = [...texts]
      .filter((text) => !text.startsWith('create') && !isCopy(text))
      .filter((text) => new Set(namesOf(text).map(isOwn)).size > 1);
    assert.deepEqual(mixed, []);
    // Without the facility, PostgreSQL before 18 reads the index of these tables from end to end.
    const ofFacility = new Set(
      [...IMPORTERS.values()].flatMap(({ table: { name, reach } }) => (reach === 'facility' ? name : [])),
    );
    const partial = [...texts].filter(
      (text) => !text.includes('facility_id') && namesOf(text).some((name) => ofFacility.has(name)),
    );
    assert.deepEqual(
      partial.filter((text) => !text.startsWith('create')),
      [],
    );
  });

  test('its connection can write to nothing that is kept [IN-24]', async () => {
    const deletion = {
      text: 'delete from facility where organisation_id = $1',
      values: [t.scope.organisationId],
    };
    await assert.rejects(
      inDryRun(t.database.pool, t.scope, (run) => run((client) => client.query(deletion))),
      { code: '25006' },
    );
  });

  const replacedBy = ({ id }: Resource) => ({
    type: 'replaced-by',
    other: { reference: `Patient/${id}` },
  });
  const participant = ({ identifier }: Resource) => ({
    individual: { identifier: (identifier as object[])[0] },
  });
  const laboratory = (id: string, subject: Resource) => ({
    resourceType: 'Observation',
    id,
    status: 'final',
    code: { text: 'Test' },
    subject: { reference: `Patient/${subject.id}` },
    category: LABORATORY,
    valueString: 'x',
  });
  const stored = () =>
    t.rows(
      `select 'patient' as kind, id, version from patient
       union all select 'encounter', id, version from encounter
       union all select 'observation', id, version from observation
       union all select 'practitioner', id, version from practitioner
       union all select 'registration', patient_id, null from patient_registration
       order by 1, 2`,
    );
});

/** The tables that a text of SQL names, with the schema where it is named; those that it creates. */
function namesOf(text: string): string[] {
  const names: string[] = [];
  const queries = new Set<unknown>();
  for (const tree of parseStatements(text))
    walk(tree, (type, held) => {
      if (type === 'CommonTableExpr') queries.add(held.ctename);
      const { relname, schemaname } = (type === 'RangeVar' ? held : member(held, 'relation')) ?? {};
      if (typeof relname === 'string')
        names.push(schemaname === undefined ? relname : `${schemaname}.${relname}`);
      return type !== 'CreateStmt';
    });
  return names.filter((name) => !queries.has(name));
}

/** Holds the reading of the first result for its writing: by then the patients and the encounter are written. */
function heldSpool(bytes: Buffer): { spool: Spool; reached: Promise<void>; release: () => void } {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const inner = memorySpool(bytes);
  const known = new Set<number>();
  const read: Spool['read'] = async (start, end) => {
    const part = await inner.read(start, end);
    if (start === 0 || !part.includes('"resourceType":"Observation"')) return part;
    if (known.has(start)) {
      reach();
      await released;
    }
    known.add(start);
    return part;
  };
  return { spool: { ...inner, read }, reached, release };
}
