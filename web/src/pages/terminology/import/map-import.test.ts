/** The import of a map file in the console, in a real browser. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { TestAccount } from '../../../../../test-support/service/api.ts';
import { NO_BROWSER, useConsole } from '../../../../../test-support/service/console-page.ts';

const LOINC = 'http://loinc.org';
const HEADER = 'local_system,local_code,local_display,target_system,target_code,target_display\n';

describe('a map file', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  const put = (account: TestAccount, body: object) =>
    web.api.call('/terminology/maps', { method: 'PUT', token: account.token, body });

  test('what a file would change is shown before it does; the maps are exported [WEB-32]', async (t) => {
    const { page, account } = await web.open(t, '/terminology/import');
    await put(account, {
      localSystem: 'urn:lab',
      localCode: 'NA',
      targetSystem: LOINC,
      targetCode: '2951-2',
    });
    const lines = [
      `urn:lab,NA,Sodium,${LOINC},2951-2,`,
      `urn:lab,CL,Chloride,${LOINC},2075-0,`,
      `urn:lab,BAD,,${LOINC},1-1,`,
    ];
    await page.getByLabel('Counts at').getByText('Whole organisation').waitFor({ state: 'attached' });
    await page.locator('input[type=file]').setInputFiles({
      name: 'maps.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(HEADER + lines.join('\n')),
    });
    const preview = page.getByRole('region', { name: 'What would change' });
    await preview.getByText('wrong LOINC check digit').waitFor();
    assert.deepEqual(await preview.locator('dd').allTextContents(), ['1', '1', '0', '1']);
    const before = await web.api.call('/terminology/maps?localCode=CL', { token: account.token });
    assert.equal(before.json.items.length, 0);
    await preview.getByRole('button', { name: 'Import 2 entries' }).click();
    await page
      .getByRole('region', { name: 'What was changed' })
      .getByRole('link', { name: 'See the maps' })
      .click();
    await page.getByText('Chloride').waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Whole organisation, CSV' }).click(),
    ]);
    assert.match(
      await readFile(await download.path(), 'utf8'),
      /urn:lab,CL,Chloride,http:\/\/loinc.org,2075-0/,
    );
    await page.getByRole('button', { name: 'Export' }).click();
    const [conceptMap] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Whole organisation, FHIR ConceptMap' }).click(),
    ]);
    const { resourceType, group } = JSON.parse(await readFile(await conceptMap.path(), 'utf8'));
    assert.equal(resourceType, 'ConceptMap');
    assert.match(JSON.stringify(group), /"code":"2075-0"/);
  });

  test('each entry that a file would change is read before it is imported, and what was changed since is looked at again [WEB-58, TERM-25]', async (t) => {
    const { page, account } = await web.open(t, '/terminology/import', { expected: /409/ });
    const stored = (localCode: string, more: object) =>
      put(account, { localSystem: 'urn:lab', localCode, targetSystem: LOINC, targetCode: '2345-7', ...more });
    await stored('GLU-OLD', { localDisplay: 'Glucose', targetDisplay: 'Glucose in Serum' });
    await stored('GLU-SAME', {});
    const header = `${HEADER.trim()},equivalence,comment\n`;
    const lines = [
      `urn:lab,GLU-SAME,,${LOINC},2345-7,,,`,
      `urn:lab,GLU-OLD,Glucose,${LOINC},2339-0,Glucose in Blood,narrower,Only blood`,
      `urn:lab,GLU-NEW,Glucose new,${LOINC},2345-7,,wider,`,
    ];
    const choose = (content: string) =>
      page.locator('input[type=file]').setInputFiles({
        name: 'maps.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(header + content),
      });
    await choose(lines[0] ?? '');
    await page.getByRole('heading', { name: 'Nothing would change' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^Import \d/ }).count(), 0);
    await choose(lines.join('\n'));
    const rows = page.getByRole('table', { name: 'Change by change' }).getByRole('row');
    const wordsOf = async (index: number) => (await rows.nth(index).innerText()).replace(/\s+/g, ' ');
    await rows.nth(2).waitFor();
    assert.equal(await rows.count(), 3, 'what stays as it is is not listed');
    assert.equal(
      await wordsOf(1),
      '3 Changed GLU-OLD Glucose urn:lab Before: 2345-7LOINC Glucose in Serum After: 2339-0LOINC Glucose in Blood ' +
        'Relation: Before: means the same → After: means less than the local code ' +
        'Comment: Before: None → After: Only blood',
    );
    assert.equal(
      await wordsOf(2),
      '4 New GLU-NEW Glucose new urn:lab 2345-7LOINC Relation: means more than the local code',
    );
    await page.getByText('New (1)', { exact: true }).click();
    await rows.getByText('GLU-OLD').waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 2);
    await stored('GLU-NEW', { targetDisplay: 'Meanwhile' });
    await page.getByRole('button', { name: /^Import \d/ }).click();
    await page.getByText(/^The maps were changed after the preview, /).waitFor();
    await rows.getByText('Meanwhile').waitFor();
    await page.getByRole('button', { name: /^Import \d/ }).click();
    await page.getByRole('button', { name: 'Import another file' }).waitFor();
  });

  test('what is typed about a file is sent when the typing pauses, and not letter by letter [WEB-32]', async (t) => {
    const { page } = await web.open(t, '/terminology/import', { expected: /400/ });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/maps/import')) asked.push(request.url());
    });
    await page.locator('input[type=file]').setInputFiles({
      name: 'maps.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`local_system,item,loinc\nurn:typed,T,718-7\n`),
    });
    await page.getByRole('alert').filter({ hasText: 'The file cannot be taken' }).waitFor();
    await page.getByText('The file has other columns, or no systems').click();
    // The typing does not pause, however slow the machine is: no time passes for the page.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const askedBefore = asked.length;
    await page.getByRole('textbox', { name: 'Standard system of every code' }).pressSequentially(LOINC);
    await page
      .getByRole('textbox', { name: 'Names of its columns' })
      .pressSequentially('local_code=item,target_code=loinc');
    assert.equal(asked.length, askedBefore);
    await page.clock.resume();
    await page.getByRole('button', { name: 'Import 1 entry' }).click();
    await page.getByRole('button', { name: 'Import another file' }).waitFor();
  });

  test('a file that is no map says why [WEB-32]', async (t) => {
    const { page } = await web.open(t, '/terminology/import', { expected: /400/ });
    await page.locator('input[type=file]').setInputFiles({
      name: 'maps.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`${'a'.repeat(200)},b\n1,2\n`),
    });
    await page.getByRole('alert').filter({ hasText: 'The file cannot be taken' }).waitFor();
  });

  test('that the service cannot be reached is not said of the file [WEB-32, WEB-75]', async (t) => {
    const { page } = await web.open(t, '/terminology/import', { expected: /ERR_INTERNET_DISCONNECTED/ });
    const input = page.locator('input[type=file]');
    await input.waitFor({ state: 'attached' });
    await page.context().setOffline(true);
    const buffer = Buffer.from('local_system,local_code,target_system,target_code\n');
    await input.setInputFiles({ name: 'maps.csv', mimeType: 'text/csv', buffer });
    const alert = page.getByRole('alert');
    await alert.getByText('The service cannot be reached').waitFor();
    assert.doesNotMatch((await alert.textContent()) ?? '', /file/);
    await page.context().setOffline(false);
  });
});
