/** The programs printed in docs/first-call.md run here, as they are printed, against a real service. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createAccount } from '../src/sign-in/accounts/create-account.ts';
import { OPERATOR } from '../src/tenancy/administration/author.ts';
import { createRole } from '../src/tenancy/roles/roles.ts';
import { insertEncounter, insertPatient } from '../test-support/records/clinical-records.ts';
import { startTestApi, type TestApi } from '../test-support/service/api.ts';
import { isInstalled, printedProgram, runProgram } from '../test-support/service/printed-program.ts';
import { addTenant, cheapPasswords } from '../test-support/sign-in/sign-in.ts';

const PAGE = 'docs/first-call.md';
/** What JSON and a shell treat in their own ways. */
const PASSWORD = 'a "quoted" \\ pass$phrase';

interface Program {
  section: string;
  language: string;
  file: string;
  command: string;
  /** What must be on the PATH. */
  needs: string[];
}

const PROGRAMS: Program[] = [
  { section: 'JavaScript', language: 'js', file: 'first-call.mjs', command: process.execPath, needs: [] },
  { section: 'Python', language: 'python', file: 'first_call.py', command: 'python3', needs: ['python3'] },
  { section: 'curl', language: 'sh', file: 'first-call.sh', command: 'sh', needs: ['curl', 'jq'] },
  { section: 'Java\n', language: 'java', file: 'FirstCall.java', command: 'java', needs: ['java'] },
];

describe(PAGE, () => {
  const folder = mkdtempSync(join(tmpdir(), 'first-call-'));
  let api: TestApi;
  let env: Record<string, string>;
  let encounterId: string;

  before(async () => {
    api = await startTestApi();
    const { pool } = api.database;
    const { organisationId, facilityId } = await addTenant(api.database);
    const role = 'first calls';
    const permissions = ['encounters.access', 'patients.patients.list'];
    await createRole(pool, { organisationId, name: role, permissions }, OPERATOR);
    // The patient is not of the account's default facility: without the header the read is 404.
    const otherId = await api.createFacility(organisationId);
    const email = 'first-call@example.org';
    await createAccount(
      { db: pool, passwords: cheapPasswords(), publicBaseUrl: api.baseUrl },
      {
        organisationId,
        facilityIds: [facilityId, otherId],
        email,
        role: { name: role },
        userType: 'EHR',
        password: { kind: 'given', password: PASSWORD },
        mustChangePassword: false,
      },
      { now: new Date(), author: OPERATOR },
    );
    const patientId = await insertPatient(pool, { organisationId, facilityId: otherId });
    encounterId = await insertEncounter(pool, { organisationId, facilityId: otherId }, { patientId });
    env = {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      BASE: api.baseUrl,
      EMAIL: email,
      PASSWORD,
      ORG_ID: organisationId,
      FACILITY_ID: otherId,
      PATIENT_ID: patientId,
    };
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await api.close();
  });

  for (const { section, language, file, command } of PROGRAMS.filter(({ needs }) => needs.every(isInstalled)))
    test(file, async () => {
      const path = join(folder, file);
      writeFileSync(path, printedProgram(PAGE, section, language));
      const { code, output, errors } = await runProgram(command, [path], env);
      assert.equal(code, 0, errors);
      assert.ok(output.includes(encounterId) && output.includes('finished'), output);
      const wrong = await runProgram(command, [path], { ...env, FACILITY_ID: env.ORG_ID ?? '' });
      assert.notEqual(wrong.code, 0, 'a refusal is not taken for an empty answer');
      assert.match(wrong.errors, /This account may not use this organisation or facility\. Check x-org-id/);
    });

  test('first-call.sh finds a patient', { skip: !['curl', 'jq'].every(isInstalled) }, async () => {
    const path = join(folder, 'find-patient.sh');
    const [signIn] = printedProgram(PAGE, 'curl', 'sh').split('BUNDLE=');
    writeFileSync(path, `${signIn}${printedProgram(PAGE, 'Find a patient', 'sh')}`);
    const { PATIENT_ID = '', ...others } = env;
    const { code, output, errors } = await runProgram('sh', [path], others);
    assert.equal(code, 0, errors);
    assert.ok(output.startsWith(`${PATIENT_ID} `), output);
  });
});
