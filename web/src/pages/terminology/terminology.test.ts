/** Maps, the work list and history in the console, in a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { sampleBundle } from '../../../../test-support/records/sample-bundle.ts';
import type { TestAccount } from '../../../../test-support/service/api.ts';
import { NO_BROWSER, signIn, useConsole } from '../../../../test-support/service/console-page.ts';

const LOINC = 'http://loinc.org';

describe('terminology', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  const put = (account: TestAccount, body: object) =>
    web.api.call('/terminology/maps', { method: 'PUT', token: account.token, body });

  /** Codes without a standard code, as the service counts them. */
  async function meet(code: string, display: string, count: number, place = 'lab.result'): Promise<void> {
    const { organisationId, facilityId } = web.tenant;
    await web.api.database.pool.query({
      text: `insert into terminology_unmapped (organisation_id, facility_id, place, local_system, local_code,
          local_display, met_count, first_met_at, last_met_at)
        values ($1, $2, $6, 'urn:lab', $3, $4, $5, now(), now())`,
      values: [organisationId, facilityId, code, display, count, place],
    });
  }

  const hasFocus = (page: Page, label: string) =>
    page
      .locator(':focus')
      .and(page.getByLabel(label, { exact: true }))
      .waitFor();
  const saved = (page: Page) => page.getByRole('status').filter({ hasText: /is (saved|mapped)/ });

  test('codes without a standard code are listed, most frequent first, and mapped [WEB-30]', async (t) => {
    await meet('RARE', 'Seldom seen', 2);
    await meet('OFTEN', 'Haemoglobin', 1_250);
    const { page, account } = await web.open(t, '/terminology', { expected: /400/ });
    const rows = page.getByRole('table', { name: 'Unmapped codes' }).getByRole('row');
    await rows.nth(1).getByText('OFTEN').waitFor();
    await rows.nth(1).getByText('1,250').waitFor();
    await rows.nth(2).getByText('RARE').waitFor();
    await page.getByRole('button', { name: 'Map OFTEN' }).click();
    const dialog = page.getByRole('dialog', { name: 'Map OFTEN' });
    await dialog.getByLabel('Standard code', { exact: true }).fill('718-8');
    await dialog.getByText('wrong LOINC check digit').waitFor();
    await dialog.getByRole('button', { name: 'Save the mapping' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'check digit' }).waitFor();
    await dialog.getByLabel('Standard code', { exact: true }).fill('718-7');
    await dialog.getByText('The service accepts this code.').waitFor();
    await page.keyboard.press('Enter');
    await saved(page).waitFor();
    await page.getByText('OFTEN', { exact: true }).waitFor({ state: 'detached' });
    const { json } = await web.api.call('/terminology/maps?localCode=OFTEN', { token: account.token });
    assert.equal(json.items[0].targetCode, '718-7');
    assert.equal(json.items[0].facilityId, null);
  });

  test('a mapping that is sent when the session has ended is there after the sign-in, without the error of before [WEB-5]', async (t) => {
    await meet('WRIST', 'Wrist', 1);
    const { page, account } = await web.open(t, '/terminology', { expected: /40[013]/ });
    await page.getByRole('button', { name: 'Map WRIST' }).click();
    const dialog = page.getByRole('dialog', { name: 'Map WRIST' });
    const code = dialog.getByLabel('Standard code', { exact: true });
    await code.fill('718-7');
    await dialog.getByText('The service accepts this code.').waitFor();
    await page.context().clearCookies();
    await dialog.getByRole('button', { name: 'Save the mapping' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, web.api, account);
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    await dialog.waitFor();
    assert.equal(await code.inputValue(), '718-7');
    assert.deepEqual(await page.getByRole('alert').allTextContents(), []);
  });

  test('a local kind of participation is found by its place, and mapped to one of HL7 [WEB-30, TERM-29]', async (t) => {
    await meet('LEAD', 'Lead doctor', 3, 'encounter.participation');
    const { page, account } = await web.open(t, '/terminology?place=encounter.participation');
    await page.getByRole('cell', { name: 'Encounter participants' }).waitFor();
    await page.getByRole('button', { name: 'Map LEAD' }).click();
    const dialog = page.getByRole('dialog', { name: 'Map LEAD' });
    await dialog.getByLabel('Standard code', { exact: true }).fill('ATND');
    await dialog.getByRole('button', { name: 'Save the mapping' }).click();
    await saved(page).waitFor();
    const { json } = await web.api.call('/terminology/maps?localCode=LEAD', { token: account.token });
    assert.match(json.items[0].targetSystem, /v3-ParticipationType$/);
  });

  test('a suggestion maps a code with two presses; one real result shows before and after, and which unit fits [WEB-39]', async (t) => {
    await meet('A1C-LOCAL', 'Hemoglobin A1c', 7);
    const { page, account } = await web.open(t, '/terminology');
    for (const [localCode, targetCode, targetDisplay] of [
      ['HBA', '4548-4', 'Hemoglobin A1c/Hemoglobin.total [Pure mass fraction] in Blood'],
      ['HBA-IFCC', '59261-8', 'Hemoglobin A1c [Moles/volume] in Blood'],
    ])
      await put(account, {
        localSystem: 'urn:other',
        localCode,
        localDisplay: 'Hemoglobin A1c',
        targetSystem: LOINC,
        targetCode,
        targetDisplay,
      });
    const records = JSON.stringify(sampleBundle()).replaceAll(
      '{"system":"http://loinc.org","code":"4548-4"}',
      '{"system":"urn:lab","code":"A1C-LOCAL"},{"system":"urn:house","code":"HOUSE-1"}',
    );
    const headers = { 'content-type': 'application/fhir+json' };
    const imported = await web.api.call('/imports/fhir', { token: account.token, headers, body: records });
    assert.equal(imported.status, 200, imported.text);
    await page.goto(`${web.api.origin}/console/terminology`);
    await page.getByRole('button', { name: 'Map A1C-LOCAL' }).click();
    const dialog = page.getByRole('dialog', { name: 'Map A1C-LOCAL' });
    const suggested = dialog.getByRole('region', { name: 'Suggestions' }).getByRole('listitem');
    const reason = 'The same name is mapped to it in the map of the organisation: HBA, Hemoglobin A1c.';
    await suggested.filter({ hasText: '4548-4' }).getByText(reason).waitFor();
    assert.equal(await dialog.getByText(/The unit/).count(), 0, 'no unit is known yet');
    await dialog.getByLabel('Standard code', { exact: true }).fill('4548-4');
    await dialog.getByRole('button', { name: 'Show a result' }).click();
    await dialog.getByRole('region', { name: 'Goes out now as' }).getByText('"A1C-LOCAL"').waitFor();
    const after = dialog.getByRole('region', { name: 'Will go out as' });
    await after.getByText('"4548-4"').waitFor();
    await after.getByText('"HOUSE-1"').waitFor();
    await suggested.first().getByText('The unit fits.').waitFor();
    await suggested.filter({ hasText: '59261-8' }).getByText('The unit does not fit: look twice.').waitFor();
    await dialog.getByLabel('Standard system').selectOption('Another system');
    await dialog.getByLabel('Address of the system').fill('urn:house');
    await after.getByText('"4548-4"').waitFor({ state: 'detached' });
    await after.getByText('"HOUSE-1"').waitFor();
    await dialog.getByRole('button', { name: 'Use 4548-4' }).click();
    await saved(page).waitFor();
    const { json } = await web.api.call('/terminology/maps?localCode=A1C-LOCAL', { token: account.token });
    assert.equal(json.items[0].targetCode, '4548-4');
  });

  test('no result is offered for a code that was met in no result [WEB-39]', async (t) => {
    await meet('XR-LOCAL', 'Wrist X-ray', 3, 'imaging.order');
    const { page } = await web.open(t, '/terminology');
    await page.getByRole('button', { name: 'Map XR-LOCAL' }).click();
    const dialog = page.getByRole('dialog', { name: 'Map XR-LOCAL' });
    await dialog.getByRole('button', { name: 'Save the mapping' }).waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Show a result' }).count(), 0);
  });

  test('a mapping is edited in its row, and checked while it is typed [WEB-31]', async (t) => {
    const { page, account } = await web.open(t, '/terminology/maps?search=kalium');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await put(account, {
      localSystem: 'urn:lab',
      localCode: 'K',
      localDisplay: 'Kalium',
      targetSystem: LOINC,
      targetCode: '2823-3',
    });
    await put(account, {
      localSystem: 'urn:lab',
      localCode: 'NA',
      targetSystem: LOINC,
      targetCode: '2951-2',
    });
    await page.reload();
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit K' }).click();
    const code = page.getByRole('textbox', { name: 'Standard code' });
    await hasFocus(page, 'Standard code');
    await code.fill('2823-4');
    await page.getByText('wrong LOINC check digit').waitFor();
    await code.fill('6298-4');
    await page.getByText('Saving replaces it').waitFor();
    await page.keyboard.press('Enter');
    await saved(page).waitFor();
    await page.getByText('6298-4', { exact: true }).waitFor();
    await page.getByText('Whole organisation', { exact: true }).last().waitFor();
    await hasFocus(page, 'Edit K');
    await page.keyboard.press('Enter');
    await code.fill('x');
    await page.keyboard.press('Escape');
    await page.getByText('6298-4', { exact: true }).waitFor();
  });

  test('saving a row sends what was changed in it, and leaves what somebody else changed meanwhile [WEB-31]', async (t) => {
    const account = await web.api.createAccount(web.tenant);
    const entry = { localSystem: 'urn:lab', localCode: 'LACTATE', targetSystem: LOINC };
    await put(account, { ...entry, targetCode: '2519-7' });
    const { page } = await web.open(t, '/terminology/maps?search=LACTATE');
    await page.getByRole('button', { name: 'Edit LACTATE' }).click();
    await page.getByRole('textbox', { name: 'Official text' }).fill('Lactate');
    await put(account, { ...entry, targetCode: '2519-7', comment: 'of the laboratory' });
    await page.getByRole('button', { name: /^Save/ }).click();
    await saved(page).waitFor();
    const { json } = await web.api.call('/terminology/maps?localCode=LACTATE', { token: account.token });
    const [{ targetCode, targetDisplay, comment }] = json.items;
    assert.deepEqual([targetCode, targetDisplay, comment], ['2519-7', 'Lactate', 'of the laboratory']);
  });

  test('a row whose code somebody else changed or deleted meanwhile is not saved [WEB-31]', async (t) => {
    const account = await web.api.createAccount(web.tenant);
    const entry = { localSystem: 'urn:lab', localCode: 'URATE', targetSystem: LOINC };
    await put(account, { ...entry, targetCode: '3084-1', targetDisplay: 'Urate' });
    const { page } = await web.open(t, '/terminology/maps?search=URATE');
    const stored = async () => {
      const { json } = await web.api.call('/terminology/maps?localCode=URATE', { token: account.token });
      return json.items.map((one: { targetCode: string; targetDisplay: string }) => [
        one.targetCode,
        one.targetDisplay,
      ]);
    };
    const remove = () =>
      web.api.call(`/terminology/maps?${new URLSearchParams(entry)}`, {
        method: 'DELETE',
        token: account.token,
      });
    const editMeanwhile = async (meanwhile: () => Promise<unknown>) => {
      await page.getByRole('button', { name: 'Edit URATE' }).click();
      await page.getByRole('textbox', { name: 'Official text' }).fill('Urate in Serum');
      await meanwhile();
      await page.getByRole('button', { name: /^Save/ }).click();
      await page.getByText('Somebody else changed or deleted URATE').waitFor();
      await page.getByRole('button', { name: 'Dismiss' }).click();
    };
    await editMeanwhile(() =>
      put(account, { ...entry, targetCode: '3086-6', targetDisplay: 'Urate in Urine' }),
    );
    assert.deepEqual(await stored(), [['3086-6', 'Urate in Urine']]);
    await page.getByText('Urate in Urine').waitFor();
    await editMeanwhile(remove);
    assert.deepEqual(await stored(), []);
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
  });

  test('a question about a long code has its buttons in view on a telephone [WEB-31]', async (t) => {
    const localCode = 'LONG'.repeat(50);
    const account = await web.api.createAccount(web.tenant);
    await put(account, { localSystem: 'urn:lab', localCode, targetSystem: LOINC, targetCode: '718-7' });
    const { page } = await web.open(t, '/terminology/maps?search=LONGLONG');
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: 'Delete LONG' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Delete' }).waitFor();
    const [shown, needed] = await dialog.evaluate((one) => [one.clientWidth, one.scrollWidth]);
    assert.equal(needed, shown);
  });

  test('a row that is not saved is left only after a question [WEB-76]', async (t) => {
    const account = await web.api.createAccount(web.tenant);
    await put(account, {
      localSystem: 'urn:lab',
      localCode: 'CREA',
      targetSystem: LOINC,
      targetCode: '2160-0',
    });
    const { page } = await web.open(t, '/terminology/maps?search=CREA');
    await page.getByRole('button', { name: 'Edit CREA' }).click();
    await page.getByRole('textbox', { name: 'Official text' }).fill('Creatinine');
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    await page.getByText('What you changed on this page is not saved.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: /^Save/ }).click();
    await saved(page).waitFor();
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    await page.getByRole('heading', { name: 'Import a map', level: 1 }).waitFor();
  });

  test('a UCUM unit is checked while it is typed, for one facility [WEB-31]', async (t) => {
    const { page, account } = await web.open(t, '/terminology/maps');
    await page.getByRole('button', { name: 'Add a mapping' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a mapping' });
    await dialog.getByLabel('Local code', { exact: true }).fill('MG%');
    await dialog.getByLabel('Standard system').selectOption('UCUM');
    await dialog.getByLabel('Counts at').selectOption('Only Test Facility');
    await dialog.getByLabel('Standard code', { exact: true }).fill('mgg/ddl');
    await dialog.getByText('not a valid UCUM unit').waitFor();
    await dialog.getByLabel('Standard code', { exact: true }).fill('mg/dL');
    await dialog.getByText('The service accepts this code.').waitFor();
    await dialog.getByRole('button', { name: 'Save the mapping' }).click();
    await page.getByRole('cell', { name: 'Only Test Facility' }).waitFor();
    const filters = page.getByRole('search');
    const nothing = page.getByRole('heading', { name: 'Nothing matches the filters' });
    await filters.getByLabel('Code or text').fill('MG%');
    await filters.getByLabel('Standard system').selectOption('SNOMED CT');
    await nothing.waitFor();
    await filters.getByLabel('Standard system').selectOption('UCUM');
    await page.getByText('1 row', { exact: true }).waitFor();
    await filters.getByLabel('Counts at').selectOption('Whole organisation');
    await nothing.waitFor();
    await filters.getByLabel('Counts at').selectOption('Only Test Facility');
    await page.getByText('1 row', { exact: true }).waitFor();
    const { json } = await web.api.call('/terminology/maps?localCode=MG%25', { token: account.token });
    assert.equal(json.items[0].facilityId, web.tenant.facilityId);
    await page.getByRole('button', { name: 'Delete MG%' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('cell', { name: 'Only Test Facility' }).waitFor({ state: 'detached' });
  });

  test('the words of a row that is edited are whole in French [WEB-8, WEB-31]', async (t) => {
    const { page, account } = await web.open(t, '/terminology/maps?search=WHOLE', { language: 'fr' });
    await put(account, { localSystem: '', localCode: 'WHOLE', targetSystem: LOINC, targetCode: '718-7' });
    await page.reload();
    await page.getByRole('button', { name: 'Modifier WHOLE' }).click();
    const save = page.getByRole('button', { name: 'Enregistrer', exact: true }).locator('span').last();
    assert.ok(await save.evaluate((label) => label.scrollWidth <= label.clientWidth));
  });

  test('the history says who changed what [WEB-33]', async (t) => {
    const { page, account } = await web.open(t, '/terminology/history?localCode=HIST');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await put(account, {
      localSystem: 'urn:lab',
      localCode: 'HIST',
      targetSystem: LOINC,
      targetCode: '718-7',
    });
    await put(account, {
      localSystem: 'urn:lab',
      localCode: 'HIST',
      targetSystem: LOINC,
      targetCode: '2951-2',
    });
    await page.reload();
    const rows = page.getByRole('table', { name: 'History of maps' }).getByRole('row');
    await rows.nth(1).getByText('2951-2').waitFor();
    await rows.nth(1).getByText('You', { exact: true }).waitFor();
    await rows.nth(2).getByText('Added').waitFor();
    const other = await web.open(t, '/terminology/history?localCode=HIST');
    await other.page.getByText(account.email).first().waitFor();
    const permissions = ['terminology.maps.read'];
    const reader = await web.open(t, '/terminology/history?localCode=HIST', { permissions });
    await reader.page.getByText(account.userId).first().waitFor();
  });

  test('an author whom the person may not see is asked for once, and again after a change [WEB-10, WEB-33]', async (t) => {
    const other = await web.api.createFacility(web.tenant.organisationId);
    const author = await web.api.createAccount({ ...web.tenant, facilityId: other });
    await put(author, {
      localSystem: 'urn:lab',
      localCode: 'ELSE',
      targetSystem: LOINC,
      targetCode: '718-7',
    });
    const { page } = await web.open(t, '/roles', { expected: /404/ });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const isOfAuthor = (url: string) => url.endsWith(`/accounts/${author.userId}`);
    const open = async () => {
      await page.getByRole('navigation').getByRole('link', { name: 'Terminology' }).click();
      await page.getByRole('link', { name: 'History' }).click();
      await page.getByText(author.userId).first().waitFor();
    };
    const openAsking = () =>
      Promise.all([page.waitForResponse((answer) => isOfAuthor(answer.url())), open()]);
    await openAsking();
    await page.getByRole('link', { name: 'Maps' }).click();
    await page.getByText('ELSE', { exact: true }).waitFor();
    await open();
    assert.equal(asked.filter(isOfAuthor).length, 1);
    await page.getByRole('link', { name: 'Maps' }).click();
    await page.getByRole('button', { name: 'Delete ELSE' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('ELSE', { exact: true }).waitFor({ state: 'detached' });
    await openAsking();
  });

  test('where a mapping counts, and where a code was met, is said in whole French words [WEB-8, WEB-30, WEB-33]', async (t) => {
    const author = await web.api.createAccount(web.tenant);
    await put(author, {
      localSystem: 'urn:lab',
      localCode: 'WORD',
      targetSystem: LOINC,
      targetCode: '718-7',
    });
    await meet('MET', 'Something', 1);
    const { page } = await web.open(t, '/terminology/history?localCode=WORD', { language: 'fr' });
    const linesOfLastWord = (heading: string) =>
      page.evaluate(`(() => {
        const text = document.querySelector('td[data-heading="${heading}"]').firstChild;
        const word = document.createRange();
        word.setStart(text, text.data.lastIndexOf(' ') + 1);
        word.setEnd(text, text.length);
        return word.getClientRects().length;
      })()`);
    await page.getByRole('cell', { name: 'Toute l’organisation' }).waitFor();
    assert.equal(await linesOfLastWord('Valable pour'), 1);
    await page.setViewportSize({ width: 1024, height: 900 });
    await page.goto(`${web.api.origin}/console/terminology`);
    await page.getByRole('cell', { name: 'Résultats de laboratoire' }).first().waitFor();
    assert.equal(await linesOfLastWord('Où'), 1);
  });

  test('who may only read maps changes none [WEB-31]', async (t) => {
    const admin = await web.api.createAccount(web.tenant);
    await put(admin, { localSystem: 'urn:lab', localCode: 'RO', targetSystem: LOINC, targetCode: '718-7' });
    const { page } = await web.open(t, '/terminology/maps', { permissions: ['terminology.maps.read'] });
    await page.getByText('RO', { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^(Edit|Delete|Add)/ }).count(), 0);
  });
});
