/** The calls that pages print for curl, and the server of docs/cors.md, run here as they are printed, against a real service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sendRaw } from '../test-support/http/raw-http.ts';
import { seedRecords } from '../test-support/records/seed-tenant.ts';
import { startTestApi, type Tenant, type TestApi } from '../test-support/service/api.ts';
import { freePort } from '../test-support/service/free-port.ts';
import { isInstalled, printedProgram, runProgram } from '../test-support/service/printed-program.ts';
import { waitUntil } from '../test-support/wait-until.ts';

const ROOT = new URL('../', import.meta.url);
/** Fails where a call is refused, which curl by itself does not. */
const STRICT = 'set -eu\ncurl() { command curl -sS --fail-with-body "$@"; }\n';
const CSV = `local_system,local_code,local_display,target_system,target_code,target_display
http://hospital.example/lab,GLU,Glucose,http://loinc.org,2345-7,Glucose
`;
/** How many calls each page prints, at least: a page that is not read any more is no success. */
const PAGES = {
  encounters: 7,
  patients: 5,
  lab: 2,
  imaging: 2,
  vitals: 2,
  'fhir-mapping': 1,
  import: 4,
  terminology: 5,
  operations: 2,
};

describe('calls of the pages', {
  skip: !['curl', 'jq'].every(isInstalled) && 'curl or jq is missing',
}, () => {
  let folder: string;
  let api: TestApi;
  let env: Record<string, string>;
  let tenant: Tenant;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'calls-docs-'));
    await writeFile(join(folder, 'maps.csv'), CSV);
    api = await startTestApi();
    tenant = await api.createTenant();
    const seeds = await seedRecords(api.database.pool, tenant);
    const { token } = await api.createAccount(tenant);
    env = {
      PATH: process.env.PATH ?? '',
      BASE: api.baseUrl,
      TOKEN: token,
      PATIENT: seeds.patientId,
      ENCOUNTER: seeds.encounterId,
      ORDER: seeds.labOrderId,
      SET: seeds.vitalSetId,
      OBSERVATION: seeds.observationId,
      IMPORT: seeds.importId,
      IMAGING: seeds.imagingOrderId,
    };
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await api.close();
  });

  test('docs/cors.md: the server answers, and goes on after an address that is none', async (t) => {
    const file = join(folder, 'server.mjs');
    await writeFile(file, printedProgram('docs/cors.md', 'What to do', 'js'));
    const port = await freePort();
    const where = { ORG_ID: tenant.organisationId, FACILITY_ID: tenant.facilityId, APP_PORT: String(port) };
    const child = spawn(process.execPath, [file], { env: { ...env, ...where }, stdio: 'inherit' });
    t.after(() => child.kill('SIGKILL'));
    const answerTo = (target: string) => sendRaw(port, { method: 'GET', target, headers: {} });
    await waitUntil(async () => (await answerTo('/').catch(() => undefined))?.status === 404);
    assert.equal((await answerTo('//')).status, 404);
    const { status, body } = await answerTo(`/encounters?patient=${env.PATIENT}`);
    assert.equal(status, 200, body.toString());
    assert.match(body.toString(), /"searchset"/);
    assert.equal((await answerTo('/encounters')).status, 400);
  });

  /** The account that a page has its reader make, at one facility of several. */
  async function accountOf(page: string): Promise<Record<string, string>> {
    const [, list] = /--permissions (\S+)/.exec(textOf(page)) ?? [];
    if (list === undefined) return {};
    await api.createFacility(tenant.organisationId);
    return { TOKEN: (await api.createAccount(tenant, { permissions: list.split(',') })).token };
  }

  for (const [page, calls] of Object.entries(PAGES))
    test(`docs/${page}.md`, async () => {
      const order = page === 'imaging' ? env.IMAGING : env.ORDER;
      const blocks = blocksOf(page);
      const own = await accountOf(page);
      for (const block of blocks) {
        const script = `${STRICT}${block.replaceAll('@maps.csv', `@${folder}/maps.csv`)}`;
        const { code, output, errors } = await runProgram('sh', ['-c', script], {
          ...env,
          ...own,
          ORDER: order ?? '',
        });
        // One call shows what is answered without a token.
        if (block.includes('TOKEN')) assert.equal(code, 0, `${block}\n${output}${errors}`);
        else assert.match(output, /^\{"resourceType":"OperationOutcome".*"statusCode":401/, block);
      }
      const printed = blocks.join('').match(/^\s*(PAGE=\$\()?curl /gm)?.length ?? 0;
      assert.ok(printed >= calls, `${printed} calls on the page`);
    });
});

/** The blocks that call the service and nothing else, without the lines that say what the reader has to give. */
function blocksOf(page: string): string[] {
  return [...textOf(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, language = '']) => ['', 'sh'].includes(language))
    .map(([, , block = '']) => block.replaceAll(/^[A-Z]+=.*# .*\n/gm, ''))
    .filter((block) => /^\s*(PAGE=\$\()?curl /m.test(block) && !/npx|\/auth\//.test(block));
}

function textOf(page: string): string {
  return readFileSync(new URL(`docs/${page}.md`, ROOT), 'utf8');
}
