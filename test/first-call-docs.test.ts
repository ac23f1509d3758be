/** The programs printed in docs/first-call.md run here, as they are printed, against a real service. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createAccount } from '../src/sign-in/create-account.ts';
import { startTestApi, type TestApi } from '../test-support/api.ts';
import { insertEncounter, insertPatient } from '../test-support/clinical-records.ts';
import { addTenant, cheapPasswords } from '../test-support/sign-in.ts';

const PAGE = readFileSync(new URL('../docs/first-call.md', import.meta.url), 'utf8');
/** What JSON and a shell treat in their own ways. */
const PASSWORD = 'a "quoted" \\ pass$phrase';

interface Program {
  language: string;
  /** The first line of the block, so that the right block of the language is taken. */
  begins: string;
  file: string;
  command: string;
  /** What must be on the PATH. */
  needs: string[];
}

const PROGRAMS: Program[] = [
  { language: 'js', begins: 'const {', file: 'first-call.mjs', command: process.execPath, needs: [] },
  { language: 'python', begins: 'import', file: 'first_call.py', command: 'python3', needs: ['python3'] },
  { language: 'sh', begins: '#!/bin/sh', file: 'first-call.sh', command: 'sh', needs: ['curl', 'jq'] },
  { language: 'java', begins: 'import', file: 'FirstCall.java', command: 'java', needs: ['java'] },
];

describe('docs/first-call.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'first-call-'));
  let api: TestApi;
  let env: Record<string, string>;
  let encounterId: string;

  before(async () => {
    api = await startTestApi();
    const { pool } = api.database;
    const { organisationId, facilityId, role } = await addTenant(api.database);
    // The patient is not of the account's default facility: without the header the read is 404.
    const otherId = await api.createFacility(organisationId);
    const email = 'first-call@example.org';
    await createAccount(
      { db: pool, passwords: cheapPasswords(), publicBaseUrl: api.baseUrl },
      {
        organisationId,
        facilityIds: [facilityId, otherId],
        email,
        role,
        userType: 'EHR',
        password: { kind: 'given', password: PASSWORD },
        mustChangePassword: false,
      },
      new Date(),
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

  for (const program of PROGRAMS.filter(({ needs }) => needs.every(isInstalled)))
    it(program.file, async () => {
      const path = join(folder, program.file);
      writeFileSync(path, blockOf(program));
      const { code, output, errors } = await run(program.command, path, env);
      assert.equal(code, 0, errors);
      assert.ok(output.includes(encounterId) && output.includes('finished'), output);
      const wrong = await run(program.command, path, { ...env, FACILITY_ID: env.ORG_ID ?? '' });
      assert.notEqual(wrong.code, 0, 'a refusal is not taken for an empty answer');
    });
});

function blockOf({ language, begins, file }: Program): string {
  const blocks = [...PAGE.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))];
  const block = blocks.map((match) => match[1] ?? '').find((text) => text.startsWith(begins));
  assert.ok(block, `docs/first-call.md lost the code of ${file}`);
  return block;
}

function isInstalled(command: string): boolean {
  return spawnSync('which', [command]).status === 0;
}

async function run(command: string, path: string, env: Record<string, string>) {
  const child = spawn(command, [path], { env });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code: code as number | null, output, errors };
}
