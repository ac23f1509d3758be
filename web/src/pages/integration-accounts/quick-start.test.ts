/** The programs that the console shows to a partner run here as they are shown, against the service that they name. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { insertPatient } from '../../../../test-support/records/clinical-records.ts';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';
import { runProgram } from '../../../../test-support/service/printed-program.ts';

/** What a shell and JSON treat in their own ways. */
const ODD_ENDING = ' "quoted" \\ $x';

const PROGRAMS = [
  { tab: 'curl', file: 'first-call.sh', command: 'sh', needs: ['curl', 'jq'] },
  { tab: 'Python', file: 'first_call.py', command: 'python3', needs: ['python3'] },
  { tab: 'JavaScript', file: 'first-call.mjs', command: process.execPath, needs: [] },
  { tab: 'Java', file: 'FirstCall.java', command: 'java', needs: ['java'] },
];

describe('quick start', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  const folder = mkdtempSync(join(tmpdir(), 'quick-start-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('each program of the page signs in and reads, and none holds the password [WEB-23]', async (t) => {
    const { api, tenant } = web;
    const patientId = await insertPatient(api.database.pool, tenant);
    const admin = await api.createAccount(tenant, { userType: 'STAFF' });
    const call = (path: string, body: object) => api.call(path, { token: admin.token, body });
    const role = await call('/roles', { name: 'Partner', permissions: ['patients.patients.list'] });
    const account = await call('/accounts', {
      email: 'partner@example.org',
      userType: 'EHR',
      roleId: role.json.id,
      password: 'setup-link',
    });
    const password = `several words for one${ODD_ENDING}`;
    await setPassword(account.json.setupLink, password);
    const { page } = await web.open(t, `/integration-accounts/${account.json.userId}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = async (name: string) => {
      await page.getByRole('button', { name: `Copy: ${name}` }).click();
      return String(await page.evaluate('navigator.clipboard.readText()'));
    };
    assert.equal(await copied('Base address'), api.baseUrl);
    assert.equal(await copied('User id'), account.json.userId);
    assert.equal(await copied('Organisation id'), tenant.organisationId);
    assert.equal(await copied('Facility id'), tenant.facilityId);
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      INTERCHANGE_PASSWORD: password,
    };
    for (const { tab, file, command, needs } of PROGRAMS) {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      const program = (await page.getByRole('region', { name: file }).textContent()) ?? '';
      assert.equal(program.includes(password), false);
      assert.match(program, new RegExp(api.baseUrl));
      assert.equal((await copied(file)).trimEnd(), program);
      if (!needs.every(isInstalled)) continue;
      writeFileSync(join(folder, file), program);
      const { code, output, errors } = await runProgram(command, [join(folder, file)], env);
      assert.equal(code, 0, `${file}: ${errors}`);
      assert.ok(output.includes(patientId), `${file}: ${output}`);
      const wrong = await runProgram(command, [join(folder, file)], { ...env, INTERCHANGE_PASSWORD: 'no' });
      assert.notEqual(wrong.code, 0, `${file}: a refusal is not taken for an answer`);
    }
  });

  async function setPassword(link: string, password: string): Promise<void> {
    const token = link.split('#token=')[1];
    const { status, text } = await web.api.call('/auth/password-setup', {
      body: { token, newCredential: password },
    });
    assert.ok(status < 300, text);
  }
});

function isInstalled(command: string): boolean {
  return spawnSync('which', [command]).status === 0;
}
