/** Imports in the console, in a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { keptReport } from '../../../../src/records/import/history/kept-report.ts';
import { EMPTY_REPORT } from '../../../../test-support/records/import.ts';
import type { Tenant } from '../../../../test-support/service/api.ts';
import { NO_BROWSER, useConsole } from '../../../../test-support/service/console-page.ts';
import { waitForLock } from '../../../../test-support/wait-until.ts';

const OBSERVATION_CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

const patient = (id: string) => ({
  resourceType: 'Patient',
  id,
  name: [{ family: 'Example', given: ['Ada'] }],
});

describe('imports', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  const patients = async (organisationId: string) => {
    const { rows } = await web.api.database.pool.query<{ n: number }>(
      'select count(*)::int as n from patient where organisation_id = $1',
      [organisationId],
    );
    return rows[0]?.n;
  };

  test('a file is checked first, then imported, and its report says what was rejected [WEB-47, WEB-48]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page } = await web.open(t, '/imports', { tenant });
    await page.getByRole('heading', { name: 'Nothing was imported yet' }).waitFor();
    const lines = [patient('p1'), { resourceType: 'Observation', id: 'o1' }].map((one) =>
      JSON.stringify(one),
    );
    const records = { name: 'records.ndjson', mimeType: '', buffer: Buffer.from(lines.join('\n')) };
    await page.locator('input[type=file]').setInputFiles(records);
    await page.getByText('1 record would be taken, 1 rejected.').waitFor();
    assert.equal(await patients(tenant.organisationId), 0);
    await page.getByRole('button', { name: 'Show the report' }).click();
    await page.getByRole('heading', { name: 'Rejected' }).waitFor();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('1 record taken, 1 rejected.').waitFor();
    assert.equal(await patients(tenant.organisationId), 1);
    await page.getByRole('row').filter({ hasText: 'Some rejected' }).waitFor();
    await page.getByLabel('State').selectOption('Nothing rejected');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await page.getByLabel('State').selectOption('Some or all rejected');
    await page.getByRole('link', { name: 'Report' }).click();
    await page.getByRole('heading', { name: 'records.ndjson', level: 1 }).waitFor();
    await page.getByText('Of a Bundle that has one of them, nothing was taken.').waitFor();
    const rejected = page.getByRole('table', { name: 'Rejected' });
    const [, type, reason = ''] = await rejected.getByRole('row').nth(1).getByRole('cell').allTextContents();
    assert.equal(type, 'Observation');
    assert.equal(reason, 'Observation.subject is missing');
  });

  test('a file is dropped; its report says what was not taken, not kept and not shown, and why [WEB-47, WEB-48]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page } = await web.open(t, '/imports', { tenant });
    const resources = [
      { ...patient('p1'), extension: [{ url: 'urn:example:x', valueString: 'y' }] },
      { resourceType: 'Claim', id: 'c1' },
      {
        resourceType: 'Observation',
        id: 'o1',
        status: 'final',
        category: [{ coding: [{ system: OBSERVATION_CATEGORY, code: 'social-history' }] }],
        code: { text: 'Tobacco use' },
        subject: { reference: 'Patient/p1' },
        valueString: 'never',
      },
      {
        resourceType: 'Observation',
        id: 'o2',
        status: 'final',
        category: [{ coding: [{ system: OBSERVATION_CATEGORY, code: 'vital-signs' }] }],
        code: { text: 'Weight' },
        subject: { reference: 'Patient/p1' },
        effectiveDateTime: '2024-03',
      },
    ];
    const text = resources.map((one) => JSON.stringify(one)).join('\n');
    const dropped = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(text)}], 'dropped.ndjson'));
      return data;
    })()`);
    await page.getByText('Drop files here').dispatchEvent('drop', { dataTransfer: dropped });
    await page.getByText('3 records would be taken, none rejected.').waitFor();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('link', { name: 'Report' }).click();
    const row = (table: string, name: string | RegExp) =>
      page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: name });
    await row('Not taken', 'Claim').getByRole('cell', { name: '1', exact: true }).waitFor();
    await row('Not kept', 'Patient.extension').getByRole('cell', { name: '1', exact: true }).waitFor();
    for (const reason of [/social/i, /without a date to the day/])
      await row('Not shown', reason).getByRole('cell', { name: '1', exact: true }).waitFor();
  });

  test('what was read before a change is read again on the next page: patients that were just imported [WEB-10]', async (t) => {
    const tenant = await web.api.createTenant();
    const { page } = await web.open(t, '/patients', { tenant });
    await page.getByRole('heading', { name: 'No patients here yet' }).waitFor();
    await page.getByRole('link', { name: 'Go to imports' }).click();
    await page.locator('input[type=file]').setInputFiles({
      name: 'ada.json',
      mimeType: 'application/json',
      buffer: Buffer.from('{"resourceType":"Patient","id":"1","name":[{"family":"Lovelace"}]}'),
    });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('1 record taken, none rejected.').waitFor();
    await page.getByRole('link', { name: 'Patients', exact: true }).click();
    await page.getByRole('link', { name: 'Lovelace' }).waitFor();
  });

  test('a file of which nothing can be taken is rejected, and not offered for import [WEB-47]', async (t) => {
    const tenant = await web.api.createTenant();
    const { page } = await web.open(t, '/imports', { tenant });
    const fileOf = (name: string, one: object) => ({
      name,
      mimeType: '',
      buffer: Buffer.from(JSON.stringify(one)),
    });
    const files = [
      fileOf('bad.json', { resourceType: 'Observation', id: 'o1' }),
      fileOf('one.json', patient('p1')),
      fileOf('two.json', patient('p2')),
    ];
    await page.locator('input[type=file]').setInputFiles(files);
    const all = page.getByRole('button', { name: 'Import 2 files' });
    await all.waitFor();
    await page.getByText('Stay on this page while a file is sent.').waitFor({ state: 'detached' });
    const bad = page.getByRole('listitem').filter({ hasText: 'bad.json' });
    await bad.getByText('Rejected', { exact: true }).waitFor();
    await bad.getByText('0.1 kB').waitFor();
    assert.equal(await bad.getByRole('button', { name: 'Import', exact: true }).count(), 0);
    await all.click();
    await page.getByText('1 record taken, none rejected.').nth(1).waitFor();
    assert.equal(await patients(tenant.organisationId), 2);
  });

  /** An import that seems to run, until the test ends. */
  const runningImport = async ({ organisationId, facilityId }: Tenant): Promise<string> => {
    const id = crypto.randomUUID();
    await web.api.database.pool.query(
      `insert into import_run (organisation_id, facility_id, id, source, files, total_bytes, done_bytes, resources,
         alive_at)
       values ($1, $2, $3, 'command', 3, 400, 100, 120, now() + interval '1 hour')`,
      [organisationId, facilityId, id],
    );
    return id;
  };

  test('an import is called as its file is: in the list, the heading and the palette [WEB-64]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { page } = await web.open(t, '/imports', { tenant });
    const file = { mimeType: '', buffer: Buffer.from(JSON.stringify(patient('p1'))) };
    const name = `März & "April"\n#1 ${'x'.repeat(200)}.json`;
    const kept = name.replace('\n', ' ').slice(0, 200);
    await page.locator('input[type=file]').setInputFiles({ name, ...file });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('table', { name: 'Imports so far' }).getByRole('link', { name: kept }).click();
    await page.getByRole('heading', { name: kept, exact: true, level: 1 }).waitFor();
    // Browsers keep titles.
    await page.waitForFunction("document.title === 'Import – interchange'");
    await page.getByText('One resource, over HTTP').waitFor();
    await page.getByRole('link', { name: 'All imports' }).click();
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('april');
    await page.getByRole('option', { name: `Import: ${kept}` }).click();
    await page.getByRole('heading', { name: kept, exact: true, level: 1 }).waitFor();
  });

  test('an import without a name is called by what it was and how it came [WEB-64]', async (t) => {
    const tenant = await web.api.createTenant();
    await runningImport(tenant);
    const account = await web.api.createAccount(tenant, { permissions: ['records.import'] });
    const { token } = account;
    const headers = { 'content-type': 'application/fhir+json' };
    const body = { resourceType: 'Bundle', type: 'collection', entry: [{ resource: patient('p1') }] };
    assert.equal((await web.api.call('/imports/fhir', { method: 'POST', token, headers, body })).status, 200);
    const { page } = await web.open(t, '/imports', { tenant });
    await page.getByRole('link', { name: 'Bundle, over HTTP' }).waitFor();
    await page.getByRole('link', { name: '3 files, from the command line' }).click();
    await page.getByRole('heading', { name: '3 files, from the command line', level: 1 }).waitFor();
    const bar = page.getByRole('progressbar', { name: 'It is running' });
    assert.equal(await bar.getAttribute('aria-valuenow'), '25');
    await page.getByText('120 records taken so far').waitFor();
  });

  test('a report that numbers files does so in the language of the page [WEB-8, WEB-48]', async (t) => {
    const tenant = await web.api.createTenant();
    const id = await runningImport(tenant);
    const names = ['one.json', 'two.json', 'three.json'];
    const noticed = {
      file: 'two.json',
      entry: 4,
      resourceType: 'Encounter',
      id: null,
      reason: 'has a class',
    };
    const notKept = [
      { element: 'photo', count: 1, resourceTypes: { Patient: 1 }, file: 'two.json', entry: 4 },
    ];
    const report = keptReport(
      { ...EMPTY_REPORT, files: 3, notices: [noticed], noticeCount: 1, notKept },
      names,
    );
    await web.api.database.pool.query(
      `update import_run set state = 'finished', finished_at = now(), report = $3
       where organisation_id = $1 and id = $2`,
      [tenant.organisationId, id, JSON.stringify(report)],
    );
    const { page } = await web.open(t, `/imports/${id}`, { tenant, language: 'fr' });
    await page.getByRole('cell', { name: 'fichier 2', exact: true }).waitFor();
    await page.getByRole('cell', { name: 'fichier 2, entrée 4' }).waitFor();
  });

  test('an import of which nothing was taken says so, in the list and on its page [WEB-48]', async (t) => {
    const tenant = await web.api.createTenant();
    const { token } = await web.api.createAccount(tenant, { permissions: ['records.import'] });
    const headers = { 'content-type': 'application/fhir+json' };
    for (const body of [
      { resourceType: 'Observation', id: 'o1' },
      { resourceType: 'Claim', id: 'c1' },
    ])
      assert.equal(
        (await web.api.call('/imports/fhir', { method: 'POST', token, headers, body })).status,
        200,
      );
    const { page } = await web.open(t, '/imports', { tenant });
    const row = (text: string) => page.getByRole('row').filter({ hasText: text });
    await row('Nothing to take').waitFor();
    await row('All rejected').getByRole('link', { name: 'One resource, over HTTP' }).click();
    await page.getByRole('heading', { name: 'One resource, over HTTP', level: 1 }).waitFor();
    await page.getByText('All rejected').waitFor();
  });

  test('an import that failed before it began is not said to have taken something; a later one is [WEB-48]', async (t) => {
    const tenant = await web.api.createTenant();
    const { token } = await web.api.createAccount(tenant, { permissions: ['records.import'] });
    const begun = await runningImport(tenant);
    await web.api.database.pool.query(
      `update import_run set finished_at = now(), failure = 'The service failed.'
       where organisation_id = $1 and id = $2`,
      [tenant.organisationId, begun],
    );
    const broken = gzipSync(JSON.stringify(patient('p1'))).subarray(0, 30);
    const headers = { 'content-type': 'application/gzip' };
    const sent = { method: 'POST', token, headers, body: broken };
    const answer = await web.api.call('/imports/fhir', sent);
    assert.equal(answer.status, 400);
    const { page } = await web.open(t, `/imports/${answer.headers.get('x-import-id')}`, { tenant });
    const failure = page.getByText('There is no report, because the import did not come to its end.');
    await failure.getByText('Nothing of it was taken.').waitFor();
    assert.doesNotMatch((await failure.textContent()) ?? '', /taken before/);
    await page.getByRole('link', { name: 'All imports' }).click();
    await page.getByRole('link', { name: '3 files, from the command line' }).click();
    await failure.getByText('The service failed.').waitFor();
    assert.match((await failure.textContent()) ?? '', /What was taken before stays; import the file again/);
  });

  test('pages that follow an import do not keep the session alive, and say that it has ended [WEB-65]', async (t) => {
    const tenant = await web.api.createTenant();
    const id = await runningImport(tenant);
    for (const path of ['/imports', `/imports/${id}`]) {
      const { page } = await web.open(t, path, { tenant, expected: /401/ });
      const isWatch = (answer: { request(): { headers(): Record<string, string> }; url(): string }) =>
        answer.url().includes('/imports') &&
        answer.request().headers()['x-interchange-console'] === 'background';
      await page.waitForResponse(isWatch);
      const { now } = web.api.clock;
      try {
        web.api.clock.now = new Date(now.getTime() + 29 * 60_000);
        for (let seen = 0; seen < 2; seen += 1)
          assert.equal((await page.waitForResponse(isWatch)).status(), 200);
        web.api.clock.now = new Date(now.getTime() + 31 * 60_000);
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
        await page.getByText('Your session has ended.').waitFor();
        assert.equal(new URL(page.url()).pathname, `/console${path}`);
      } finally {
        web.api.clock.now = now;
      }
    }
  });

  test('a page that follows an import says when the service cannot be reached, and follows it again when it can [WEB-48]', async (t) => {
    const tenant = await web.api.createTenant();
    const id = await runningImport(tenant);
    const { page } = await web.open(t, `/imports/${id}`, { tenant, expected: /ERR_INTERNET_DISCONNECTED/ });
    await page.getByText('120 records taken so far').waitFor();
    await page.context().setOffline(true);
    const alert = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' });
    await alert.waitFor();
    await page.getByText('120 records taken so far').waitFor();
    await web.api.database.pool.query(
      'update import_run set resources = 360 where organisation_id = $1 and id = $2',
      [tenant.organisationId, id],
    );
    await page.context().setOffline(false);
    await page.getByText('360 records taken so far').waitFor();
    await alert.waitFor({ state: 'detached' });
  });

  test('a session lasts as long as a file is sent, and the file comes to its end [WEB-65]', async (t) => {
    const { page } = await web.open(t, '/imports');
    const { now } = web.api.clock;
    const owner = new pg.Client({ connectionString: web.api.database.adminUrl });
    await owner.connect();
    t.after(() => owner.end());
    await owner.query('begin');
    await owner.query('lock table patient in access exclusive mode');
    try {
      const one = { name: 'one.json', mimeType: '', buffer: Buffer.from(JSON.stringify(patient('p1'))) };
      await page.locator('input[type=file]').setInputFiles(one);
      await waitForLock(web.api.database.pool);
      await page.getByRole('progressbar', { name: 'one.json: sent' }).waitFor();
      await page.getByText('Stay on this page while a file is sent.').waitFor();
      for (const minutes of [20, 40]) {
        web.api.clock.now = new Date(now.getTime() + minutes * 60_000);
        for (let seen = 0; seen < 2; seen += 1) {
          const answer = await page.waitForResponse((response) => response.url().includes('state=running'));
          assert.equal(answer.status(), 200);
        }
      }
      await owner.query('rollback');
      await page.getByText('1 record would be taken, none rejected.').waitFor();
    } finally {
      web.api.clock.now = now;
    }
  });

  test('a file that is none is refused in the words of the service, and can be removed [WEB-47]', async (t) => {
    const tenant = await web.api.createTenant();
    const { page } = await web.open(t, '/imports', { tenant, expected: /400|422/ });
    const broken = { name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from('{"resour') };
    await page.locator('input[type=file]').setInputFiles(broken);
    const line = page.getByRole('listitem').filter({ hasText: 'broken.json' });
    await line
      .getByText(/^The content .*JSON/)
      .first()
      .waitFor();
    await line.getByRole('button', { name: 'Remove broken.json' }).click();
    await line.waitFor({ state: 'detached' });
  });

  test('a file whose check failed is checked again, and the focus goes on from the heading [WEB-4, WEB-47]', async (t) => {
    const { page } = await web.open(t, '/imports', { expected: /ERR_INTERNET_DISCONNECTED/ });
    const input = page.locator('input[type=file]');
    await input.waitFor({ state: 'attached' });
    await page.context().setOffline(true);
    const buffer = Buffer.from(JSON.stringify(patient('p1')));
    await input.setInputFiles({ name: 'one.json', mimeType: '', buffer });
    const line = page.getByRole('listitem').filter({ hasText: 'one.json' });
    await line.getByText('The service cannot be reached').waitFor();
    await page.context().setOffline(false);
    await line.getByRole('button', { name: 'Check again' }).focus();
    await page.keyboard.press('Enter');
    await line.getByText('1 record would be taken, none rejected.').waitFor();
    await page.locator('h1:focus').waitFor();
    for (const name of ['Import', 'Remove one.json']) {
      await line.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.locator('h1:focus').waitFor();
    }
    await line.waitFor({ state: 'detached' });
  });

  test('an answer that is none of the service, such as the page of a network, fails the file, and the next one goes on [WEB-47]', async (t) => {
    const { page } = await web.open(t, '/imports');
    // Not for one time only: a request that begins while Chromium is told to stop asking hangs now and then.
    let asked = 0;
    await page.route('**/console/api/imports/fhir?*', (route) => {
      asked += 1;
      return asked === 1
        ? route.fulfill({ contentType: 'text/html', body: '<h1>Welcome to this network</h1>' })
        : route.continue();
    });
    const input = page.locator('input[type=file]');
    const file = (name: string) => ({
      name,
      mimeType: '',
      buffer: Buffer.from(JSON.stringify(patient('p1'))),
    });
    await input.setInputFiles([file('one.json'), file('two.json')]);
    const line = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await line('two.json').getByText('1 record would be taken, none rejected.').waitFor();
    await line('one.json').getByText('The service cannot be reached').waitFor();
    await line('one.json').getByRole('button', { name: 'Check again' }).click();
    await line('one.json').getByText('1 record would be taken, none rejected.').waitFor();
  });

  test('files are chosen from the palette [WEB-47]', async (t) => {
    const { page } = await web.open(t, '/imports');
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    // Asked for long before, so that the browser surely hands it to the test.
    const chosen = page.waitForEvent('filechooser');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('choose');
    await page.getByRole('option', { name: 'Choose files' }).waitFor();
    await page.keyboard.press('Enter');
    const chooser = await chosen;
    const one = { name: 'one.json', mimeType: '', buffer: Buffer.from(JSON.stringify(patient('p1'))) };
    await chooser.setFiles(one);
    await page.getByText('1 record would be taken, none rejected.').waitFor();
  });

  test('an import that is not there: the page says so, without what a program should check, and where the others are [WEB-48]', async (t) => {
    const { page } = await web.open(t, `/imports/${crypto.randomUUID()}`, { expected: /404/ });
    const alert = page.getByRole('alert');
    await alert.getByText('The import was not found. It does not exist any more, or belongs to').waitFor();
    assert.doesNotMatch((await alert.textContent()) ?? '', /header|Try again/);
    await alert.getByRole('link', { name: 'All imports' }).click();
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor();
  });
});
