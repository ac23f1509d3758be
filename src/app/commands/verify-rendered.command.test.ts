import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { insertEncounter, insertPatient } from '../../../test-support/records/clinical-records.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { runCommand } from '../../../test-support/service/command.ts';

const MASTER_KEY = randomBytes(32).toString('hex');
const verify = (...args: string[]) =>
  runCommand(['rendered', 'verify', ...args], { env: { DATABASE_URL: database.url, MASTER_KEY } });

const NO_OBSERVATIONS = 'Observation: 0 records, 0 without a current text. Every other text is right.\n';
const NO_ORDERS = 'ServiceRequest: 0 records, 0 without a current text. Every other text is right.\n';
const RIGHT_PATIENT = `Patient: 1 record, 0 without a current text. Every other text is right.\n${NO_ORDERS}`;

const database = await useTestDatabase();
const tenant = await createPlace(database.pool);
const patientId = await insertPatient(database.pool, tenant);
const id = await insertEncounter(database.pool, tenant, { patientId });

test('a missing text is no fault; a wrong one ends with 1, and --renew writes it anew [CMD-22]', async () => {
  const missing = await verify();
  assert.deepEqual(
    [missing.code, missing.stdout],
    [
      0,
      'Encounter: 1 record, 1 without a current text (the next read writes it). Every other text is right.\n' +
        NO_OBSERVATIONS +
        'Patient: 1 record, 1 without a current text (the next read writes it). Every other text is right.\n' +
        NO_ORDERS,
    ],
  );
  const written = await verify('--renew', '--json');
  assert.deepEqual(JSON.parse(written.stdout), {
    ok: true,
    renewed: true,
    types: [
      { type: 'Encounter', records: 1, missing: 1, different: [] },
      { type: 'Observation', records: 0, missing: 0, different: [] },
      { type: 'Patient', records: 1, missing: 1, different: [] },
      { type: 'ServiceRequest', records: 0, missing: 0, different: [] },
    ],
  });
  await database.pool.query("update encounter set rendered = replace(rendered, 'finished', 'planned')");
  const wrong = await verify();
  assert.equal(wrong.code, 1);
  assert.equal(
    wrong.stdout,
    `Encounter: 1 record, 0 without a current text. 1 wrong text. Write it anew with --renew:\n  Encounter/${id}\n${NO_OBSERVATIONS}${RIGHT_PATIENT}`,
  );
  const renewed = await verify('--renew');
  assert.deepEqual(
    [renewed.code, renewed.stdout],
    [
      0,
      `Encounter: 1 record, 0 without a current text. 1 wrong text, written anew:\n  Encounter/${id}\n${NO_OBSERVATIONS}${RIGHT_PATIENT}`,
    ],
  );
  const right = await verify();
  assert.deepEqual(
    [right.code, right.stdout],
    [
      0,
      `Encounter: 1 record, 0 without a current text. Every other text is right.\n${NO_OBSERVATIONS}${RIGHT_PATIENT}`,
    ],
  );
});
