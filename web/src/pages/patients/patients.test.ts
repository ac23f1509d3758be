/** Patients in the console, in a real browser. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createPool } from '../../../../src/platform/db/database.ts';
import { OPERATOR_ACCOUNT_ID } from '../../../../src/privacy/access-log/access-log.ts';
import { connect, insertPatients } from '../../../../test-support/exchange/exchange-records.ts';
import { addFailedPublish } from '../../../../test-support/publish/failed-publish.ts';
import { importJson } from '../../../../test-support/records/import-files.ts';
import { sampleBundle } from '../../../../test-support/records/sample-bundle.ts';
import { MARKS, type SeededRecords, seedRecords } from '../../../../test-support/records/seed-tenant.ts';
import { NO_BROWSER, signIn, useConsole } from '../../../../test-support/service/console-page.ts';
import { sized } from '../../../../test-support/sized.ts';

describe('patients', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  let seeded: SeededRecords;
  before(async () => {
    seeded = await seedRecords(web.api.database.pool, web.tenant);
  });

  const logged = async (action: string) => {
    const { rows } = await web.api.database.pool.query({
      text: 'select purpose_of_use from access_log where organisation_id = $1 and action = $2',
      values: [web.tenant.organisationId, action],
    });
    return rows.map(({ purpose_of_use }: { purpose_of_use: string }) => purpose_of_use);
  };

  test('a patient is found by name, for the purpose that is chosen [WEB-34]', async (t) => {
    const { page } = await web.open(t, '/patients');
    await page.getByText('Patients who refuse the purpose are not shown.').waitFor();
    await page.getByRole('searchbox').fill('nobody');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await page.getByLabel('Purpose of use').selectOption('Treatment');
    await page.getByRole('searchbox').fill(MARKS.family);
    await page.getByRole('link', { name: MARKS.family }).click();
    await page.waitForURL(`**/patients/${seeded.patientId}?purpose=TREATMENT`);
    await page.getByRole('heading', { name: MARKS.family, level: 1 }).waitFor();
    await page.getByText(MARKS.identifier).first().waitFor();
    assert.equal(await page.getByLabel('Purpose of use').inputValue(), 'TREATMENT');
    assert.ok((await logged('patient.read')).includes('TREATMENT'));
  });

  const searchFor = async (page: Page) => {
    const asked = page.waitForResponse(`**/patients/base?*search=${MARKS.family}*`);
    await page.getByRole('searchbox').fill(MARKS.family);
    await asked;
  };
  const kept = async (page: Page) => String(await page.evaluate('JSON.stringify(sessionStorage)'));

  test('what was searched for is in no address, title, history or log, and is there again after back and reload [WEB-66]', async (t) => {
    const { page } = await web.open(t, '/patients', { expected: /401/ });
    const search = page.getByRole('searchbox');
    const link = page.getByRole('link', { name: MARKS.family });
    const isNowhere = async () => {
      const { length } = MARKS.family;
      assert.ok(length > 3);
      const seen = `${page.url()} ${await page.title()} ${await page.evaluate('JSON.stringify(history.state)')}`;
      assert.ok(!seen.includes(MARKS.family), seen);
    };
    await searchFor(page);
    await link.waitFor();
    await isNowhere();
    await page.getByLabel('Purpose of use').selectOption('Operations');
    await page.waitForURL('**/patients?purpose=OPS');
    assert.equal(await search.inputValue(), MARKS.family);
    await link.click();
    await page.getByRole('heading', { name: MARKS.family, level: 1 }).waitFor();
    await isNowhere();
    await page.goBack();
    await link.waitFor();
    assert.equal(await search.inputValue(), MARKS.family);
    await page.reload();
    await link.waitFor();
    assert.equal(await search.inputValue(), MARKS.family);
    await isNowhere();
    assert.ok(!web.api.logs().includes(MARKS.family));
  });

  test('whoever signs in next does not find the search of the one before [WEB-66]', async (t) => {
    const { page, account } = await web.open(t, '/patients', { expected: /401/ });
    await searchFor(page);
    assert.match(await kept(page), new RegExp(MARKS.family));
    await page.getByRole('button', { name: account.email }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.doesNotMatch(
      String(await page.evaluate('JSON.stringify(sessionStorage)')),
      new RegExp(MARKS.family),
    );
  });

  for (const how of ['reload', 'look at'] as const)
    test(`whoever signs in in another tab finds nothing of the one before here: they ${how} this tab [WEB-66]`, async (t) => {
      const { page } = await web.open(t, '/patients');
      await searchFor(page);
      await page.getByRole('link', { name: MARKS.family }).waitFor();
      const other = await web.api.createAccount(web.tenant, { userType: 'STAFF' });
      await signIn(page, web.api, other);
      if (how === 'reload') await page.reload();
      else await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
      await page.getByRole('button', { name: other.email }).waitFor();
      assert.equal(await page.getByRole('searchbox').inputValue(), '');
      assert.doesNotMatch(await kept(page), new RegExp(MARKS.family));
    });

  /** The service ended it; the page finds that out when somebody looks at it. */
  async function endSession(page: Page): Promise<void> {
    await page.context().clearCookies();
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  }

  test('when the session ends, nothing of a patient stays in the page, also where a privacy setting is not saved [WEB-5]', async (t) => {
    const { page } = await web.open(t, `/patients/${seeded.patientId}?tab=privacy`, { expected: /401/ });
    await page.getByRole('heading', { name: MARKS.family, level: 1 }).waitFor();
    await page.getByLabel('Research').click();
    await endSession(page);
    const content = await page.content();
    for (const mark of [MARKS.family, MARKS.identifier])
      assert.ok(!content.includes(mark), `${mark} is in the page`);
  });

  test('when the session ends, the console forgets what it has read, but for what a form that is not saved shows [WEB-5]', async (t) => {
    const { page, account } = await web.open(t, '/patients', { expected: /401/ });
    const link = page.getByRole('link', { name: MARKS.family });
    await link.waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Roles' }).click();
    await page.getByRole('button', { name: 'New role' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Night shift');
    await endSession(page);
    await signIn(page, web.api, account);
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    await page.getByRole('heading', { name: 'New role', level: 1 }).waitFor();
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Night shift');
    const asked = Promise.withResolvers<void>();
    await page.route('**/patients/base?*', (route) => asked.promise.then(() => route.continue()));
    await page.getByRole('navigation').getByRole('link', { name: 'Patients' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Patients', level: 1 }).waitFor();
    assert.equal(await link.count(), 0);
    asked.resolve();
    await link.waitFor();
  });

  test('records are shown as FHIR, fold, and are copied as they are read [WEB-38]', async (t) => {
    const { page } = await web.open(t, `/patients/${seeded.patientId}`);
    const patient = page.getByRole('region', { name: 'The patient, FHIR' });
    await patient.getByText('"Patient"').waitFor();
    await patient.locator('summary').first().click();
    await patient.getByText('"Patient"').waitFor({ state: 'hidden' });
    await patient.locator('summary').first().click();
    await patient.getByText('"Patient"').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy: The patient, FHIR' }).click();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    assert.equal(JSON.parse(copied).id, seeded.patientId);
    assert.match(copied, /^\{\n {2}"resourceType": "Patient",\n/);
    for (const [kind, resource, what] of [
      ['Encounters', 'Encounter', ['Class', 'State']],
      ['Laboratory orders', 'ServiceRequest', ['Code', 'State']],
      ['Imaging orders', 'ServiceRequest', ['Code', 'State']],
      ['Vital signs', 'Observation', ['Signs']],
    ] as const) {
      await page.getByLabel('Kind of record').selectOption(kind);
      const table = page.getByRole('table', { name: kind });
      await table.getByRole('button', { name: /^Show/ }).click();
      const headings = await table.locator('th').allTextContents();
      assert.deepEqual(headings, [...what, 'When', 'Record', 'As FHIR']);
      const view = page.getByRole('dialog').getByRole('region', { name: `${kind}, FHIR` });
      await view.getByText(`"${resource}"`).first().waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }
  });

  test('numbers keep their digits where records are shown and copied, and dates are no moments [WEB-38]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'America/New_York' });
    const records = sampleBundle();
    const visit = records.entry.find(({ resource }) => resource.resourceType === 'Encounter');
    const period = { start: '2026-01-10', end: '2026-01-10' };
    const text = JSON.stringify(records)
      .replace(JSON.stringify(visit), JSON.stringify({ ...visit, resource: { ...visit?.resource, period } }))
      .replace('"value":6.1,', '"value":6.10,');
    assert.deepEqual((await importJson(web.api.database.pool, tenant, text)).rejected, []);
    const { rows } = await web.api.database.pool.query('select id from patient where organisation_id = $1', [
      tenant.organisationId,
    ]);
    const { page } = await web.open(t, `/patients/${rows[0].id}?kind=encounters`, { tenant });
    await page.getByRole('cell', { name: '2026-01-10', exact: true }).waitFor();
    await page.getByLabel('Kind of record').selectOption('Laboratory orders');
    await page.getByRole('button', { name: /^Show/ }).click();
    const view = page.getByRole('dialog');
    await view.getByText('6.10', { exact: true }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await view.getByRole('button', { name: 'Copy: Laboratory orders, FHIR' }).click();
    await page.getByText('Copied', { exact: false }).waitFor();
    assert.match(String(await page.evaluate('navigator.clipboard.readText()')), /"value": 6\.10,/);
  });

  test('a long identifier makes the page no wider', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const value = 'V'.repeat(120);
    const patient = { resourceType: 'Patient', identifier: [{ system: 'urn:long', value }] };
    const { rejected } = await importJson(web.api.database.pool, tenant, JSON.stringify(patient));
    assert.deepEqual(rejected, []);
    const { page } = await web.open(t, '/patients', { tenant });
    await page.getByRole('table').getByRole('link').click();
    await page.getByRole('heading', { name: 'Patient', level: 1 }).waitFor();
    await page.getByText(value).first().waitFor();
  });

  test('the way to the patient who replaces one keeps the purpose that was chosen [WEB-34]', async (t) => {
    const db = web.api.database.pool;
    const [old, survivor] = await insertPatients(db, web.tenant, 2);
    await db.query(
      `insert into patient_link (organisation_id, patient_id, position, other_id, type)
        values ($1, $2, 0, $3, 'replaced-by')`,
      [web.tenant.organisationId, old, survivor],
    );
    const { page } = await web.open(t, `/patients/${old}?purpose=TREATMENT`);
    await page.getByRole('link', { name: String(survivor) }).click();
    await page.waitForURL(`**/patients/${survivor}?purpose=TREATMENT`);
  });

  test('a privacy setting that is not saved is left only after a question [WEB-76]', async (t) => {
    const { page } = await web.open(t, `/patients/${seeded.patientId}?tab=privacy`);
    await page.getByRole('checkbox', { name: 'Payment' }).check();
    const dialog = page.getByRole('dialog').getByText('What you changed on this page is not saved.');
    for (const name of ['Overview', 'Access log']) {
      await page.getByRole('link', { name }).click();
      await dialog.waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      assert.ok(await page.getByRole('checkbox', { name: 'Payment' }).isChecked());
    }
    await page.getByRole('checkbox', { name: 'Payment' }).uncheck();
    await page.getByRole('link', { name: 'Access log' }).click();
    await page.getByRole('button', { name: 'Export as CSV' }).waitFor();
  });

  test('a purpose is refused, and reading for it then says so [WEB-36]', async (t) => {
    const { page } = await web.open(t, `/patients/${seeded.patientId}?tab=privacy`, { expected: /403/ });
    await page.getByRole('checkbox', { name: 'Research' }).check();
    await page.getByRole('button', { name: 'Save the setting' }).click();
    const dialog = page.getByRole('dialog', { name: 'Refuse Research?' });
    await dialog.getByRole('button', { name: 'Save the setting' }).click();
    await page.getByText('The privacy setting is saved.').waitFor();
    // What was pressed is disabled now: the heading has the focus.
    await page.locator('h1:focus').waitFor();
    const { rows } = await web.api.database.pool.query({
      text: 'select refused_purposes from patient where organisation_id = $1 and id = $2',
      values: [web.tenant.organisationId, seeded.patientId],
    });
    assert.deepEqual(rows[0].refused_purposes, ['RESEARCH']);
    await page.getByLabel('Purpose of use').selectOption('Research');
    await page.getByRole('alert').first().waitFor();
    await page.getByRole('heading', { name: 'Patient', exact: true, level: 1 }).waitFor();
    assert.ok(await page.getByRole('checkbox', { name: 'Research' }).isChecked());
  });

  test('where a patient who was read cannot be read for another purpose, what is not saved stays [WEB-35, WEB-36]', async (t) => {
    const { page } = await web.open(t, `/patients/${seeded.patientId}?tab=privacy`, { expected: /503/ });
    const tick = page.getByRole('checkbox', { name: 'Payment' });
    await tick.check();
    await page.route('**/patients/base/*?purposeOfUse=TREATMENT', (route) => route.fulfill({ status: 503 }));
    await page.getByLabel('Purpose of use').selectOption('Treatment');
    await page.getByRole('alert').first().waitFor();
    assert.ok(await tick.isChecked());
  });

  test('a purpose that somebody else refused meanwhile stays refused [WEB-36]', async (t) => {
    const { page, account } = await web.open(t, `/patients/${seeded.patientId}?tab=privacy`);
    const path = `/patients/base/${seeded.patientId}/privacy`;
    const { token } = account;
    const refuse = (refusedPurposes: string[]) =>
      web.api.call(path, { method: 'PUT', token, body: { refusedPurposes } });
    await refuse([]);
    await page.reload();
    await page.getByRole('checkbox', { name: 'Payment' }).check();
    await refuse(['RESEARCH']);
    await page.getByRole('button', { name: 'Save the setting' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save the setting' }).click();
    await page.getByText('The privacy setting is saved.').waitFor();
    const stored = async () => (await web.api.call(path, { token })).json.refusedPurposes;
    assert.deepEqual((await stored()).toSorted(), ['PAYMENT', 'RESEARCH']);
    await page.getByRole('checkbox', { name: 'Research' }).uncheck();
    await page.getByRole('checkbox', { name: 'Payment' }).uncheck();
    await page.getByRole('button', { name: 'Save the setting' }).click();
    const none = page.getByRole('dialog', { name: 'Refuse no purpose?' });
    await none.getByRole('button', { name: 'Save the setting' }).click();
    await none.waitFor({ state: 'detached' });
    assert.deepEqual(await stored(), []);
  });

  test('who may not change privacy sees it, and what is missing [WEB-36]', async (t) => {
    const { page } = await web.open(t, `/patients/${seeded.patientId}?tab=privacy`, {
      permissions: ['patients.patients.get'],
    });
    await page.getByText('patients.privacy.manage').waitFor();
    assert.ok(await page.getByRole('checkbox', { name: 'Treatment' }).isDisabled());
  });

  test('the access log is filtered, and exported as filtered [WEB-37]', async (t) => {
    const { page, account } = await web.open(t, `/patients/${seeded.patientId}?tab=accessLog`);
    // What this page itself reads is in the log from now on.
    await page.getByRole('heading', { name: MARKS.family, level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('cell', { name: account.email }).first().waitFor();
    await page.getByRole('combobox', { name: 'What was done' }).selectOption('patient.read');
    await page.waitForURL('**action=patient.read*');
    await page.getByRole('cell', { name: 'Patient read' }).first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as CSV' }).click(),
    ]);
    const [header, ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    assert.equal(
      header,
      'occurredAt,accountId,accountEmail,action,resourceType,resourceId,purposeOfUse,outcome,correlationId,connectionName',
    );
    assert.ok(lines.length > 0 && lines.every((line) => line.includes(',patient.read,')));
  });

  test('the access log names the operator, who has no account [WEB-37]', async (t) => {
    const { organisationId, facilityId } = web.tenant;
    await web.api.runtime.accessLog.record([
      {
        ...{ organisationId, facilityId, patientId: seeded.patientId, accountId: OPERATOR_ACCOUNT_ID },
        ...{ action: 'delivery.read', resourceType: 'Delivery', resourceId: null },
        ...{ purposeOfUse: 'OPS', outcome: 'allowed', correlationId: 'command' },
      },
    ]);
    const { page } = await web.open(t, `/patients/${seeded.patientId}?tab=accessLog&action=delivery.read`);
    await page.getByRole('cell', { name: 'The operator' }).waitFor();
  });

  test('the access log names the exchange of a delivery [WEB-37]', async (t) => {
    const { organisationId, facilityId } = web.tenant;
    const { pool } = web.api.database;
    const exchange = { name: 'Lagos HIE', address: 'https://hie.example.org' };
    const { id } = await connect({ pool, keys: web.api.keys }, web.tenant, exchange);
    await web.api.runtime.accessLog.record([
      {
        ...{ organisationId, facilityId, patientId: seeded.patientId, accountId: id },
        ...{ action: 'patient.deliver', resourceType: 'Patient', resourceId: seeded.patientId },
        ...{ purposeOfUse: 'OPS', outcome: 'allowed', correlationId: 'delivery' },
      },
    ]);
    const { page } = await web.open(t, `/patients/${seeded.patientId}?tab=accessLog&action=patient.deliver`);
    await page.getByRole('cell', { name: 'Lagos HIE' }).waitFor();
  });

  test('each filter of the access log is asked of the service [WEB-37]', async (t) => {
    const [patientId] = await insertPatients(web.api.database.pool, web.tenant, 1);
    const { page, account } = await web.open(t, `/patients/${patientId}?tab=accessLog`);
    await page.getByRole('heading', { name: /^Zoë/, level: 1 }).waitFor();
    await page.reload();
    const row = page.getByRole('cell', { name: 'Patient read' }).first();
    const filters: [label: string, other: string, matching: string][] = [
      ['From', '2099-01-01', '2026-01-01'],
      ['Until', '2000-01-01', '2099-01-01'],
      ['Account: email or id', crypto.randomUUID(), account.userId],
      ['Account: email or id', 'nobody@example.org', account.email],
    ];
    for (const [label, other, matching] of filters) {
      await row.waitFor();
      await page.getByLabel(label, { exact: true }).fill(other);
      await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
      await page.getByLabel(label, { exact: true }).fill(matching);
    }
    await row.waitFor();
    const done = page.getByLabel('What was done', { exact: true });
    await done.selectOption('lab-result.read');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await done.selectOption('patient.read');
    await row.waitFor();
    await page.getByLabel('Outcome').selectOption('Refused');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
  });

  test('the access log says from when entries are in an archive [WEB-37]', async (t) => {
    const { adminUrl } = web.api.database;
    const owner = createPool({ url: adminUrl, max: 1, applicationName: 'owner' }, () => undefined);
    await owner.query(`insert into access_log_archive values ('2019-12', 1, '{"runs":[]}', now())`);
    await owner.end();
    const { page } = await web.open(t, `/patients/${seeded.patientId}?tab=accessLog`);
    await page.getByText(/Entries before 1 Jan 2020, 01:00 .* are in an archive/).waitFor();
  });

  test('of many rows only those in view are in the document, page after page [WEB-10]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    await insertPatients(web.api.database.pool, tenant, sized(2_000, 100_000));
    const { page } = await web.open(t, '/patients', { tenant });
    await page.getByText('50 rows so far').waitFor();
    const rows = page.locator('tbody tr');
    for (let read = 100; read <= 300; read += 50) {
      await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
      await page.getByText(`${read} rows so far`).waitFor();
      assert.ok((await rows.count()) < 100);
    }
    await page.locator('tr[data-index="240"]').waitFor();
    assert.equal(await page.locator('tr[data-index="0"]').count(), 0);
    await page.evaluate('window.scrollTo(0, 0)');
    await page.locator('tr[data-index="0"]').waitFor();
    assert.ok((await rows.count()) < 100);
  });

  test('what was delivered and published is listed, and leads to its page [WEB-35]', async (t) => {
    const { page } = await web.open(t, `/patients/${seeded.patientId}`);
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('table', { name: 'Deliveries' }).getByText('Held').waitFor();
    await page.getByRole('link', { name: 'Publications' }).click();
    await page.getByRole('heading', { name: 'Nothing was published' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Publications' }).getAttribute('aria-current'), 'page');
    await addFailedPublish(web.api, web.tenant, seeded.labOrderId);
    await page.reload();
    const published = page.getByRole('table', { name: 'Publications' }).getByRole('row').nth(1);
    await published.getByText('Failed').waitFor();
    await published.getByText('It broke.').waitFor();
    await published.getByRole('link', { name: 'Laboratory order' }).click();
    await page.waitForURL(`**/publishing/lab/${seeded.labOrderId}`);
    await page.getByRole('heading', { name: 'Laboratory order', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').click();
    await page.waitForURL(`**/exchange/deliveries/${seeded.deliveryId}`);
    await page.getByRole('heading', { name: 'Patient created', level: 1 }).waitFor();
  });

  test('the page has the tabs that the role opens; an address of another says what is missing [WEB-7, WEB-35]', async (t) => {
    const permissions = ['patients.patients.list', 'patients.patients.get'];
    const path = `/patients/${seeded.patientId}`;
    const { page } = await web.open(t, path, { permissions, expected: /403/ });
    const tabs = page.getByRole('navigation', { name: 'Parts of the record' }).getByRole('link');
    await tabs.first().waitFor();
    assert.deepEqual(await tabs.allTextContents(), ['Records', 'Privacy']);
    await page.goto(`${web.api.origin}/console${path}?tab=accessLog`);
    await page.getByRole('alert').getByText('patients.access-log.read').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Export as CSV' }).count(), 0);
  });

  test('an empty list leads to no page that the role does not open [WEB-30, WEB-34]', async (t) => {
    const tenant = await web.api.createTenant();
    const permissions = ['patients.patients.list', 'terminology.maps.read'];
    const { page } = await web.open(t, '/patients', { tenant, permissions });
    for (const [path, heading] of [
      ['/patients', 'No patients here yet'],
      ['/terminology', 'Every code has a standard code'],
      ['/terminology/maps', 'There are no maps yet'],
    ] as const) {
      await page.goto(`${web.api.origin}/console${path}`);
      await page.getByRole('heading', { name: heading }).waitFor();
      assert.equal(
        await page.getByRole('main').locator('a[href$="/import"], a[href$="/imports"]').count(),
        0,
        path,
      );
    }
  });

  test('a patient who could not be read is said once, and is there after another try [WEB-35]', async (t) => {
    const { page } = await web.open(t, '/patients', { expected: /500/ });
    const reads = `**/patients/base/${seeded.patientId}**`;
    await page.route(reads, (route) => route.fulfill({ status: 500 }));
    await page.goto(`${web.api.origin}/console/patients/${seeded.patientId}`);
    await page.getByRole('alert').first().waitFor();
    await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('alert').count(), 1);
    await page.unroute(reads);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: MARKS.family, level: 1 }).waitFor();
    await page.getByText('"Patient"').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  test('a patient who is not there says so [WEB-35]', async (t) => {
    const { page } = await web.open(t, `/patients/${crypto.randomUUID()}`, { expected: /404/ });
    await page
      .getByRole('alert')
      .filter({ hasText: /not found|no such|does not exist/i })
      .first()
      .waitFor();
  });
});
