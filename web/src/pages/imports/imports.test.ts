/** Imports in the console, in a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_BROWSER, useConsole } from '../../../../test-support/console-page.ts';

const patient = (id: string) => ({
  resourceType: 'Patient',
  id,
  name: [{ family: 'Example', given: ['Ada'] }],
});

describe('imports', { skip: NO_BROWSER, timeout: 240_000 }, () => {
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
    await page.getByRole('link', { name: 'Report' }).click();
    await page.getByRole('heading', { name: 'Import', level: 1 }).waitFor();
    const rejected = page.getByRole('table', { name: 'Rejected' });
    await rejected.getByText('Observation').first().waitFor();
  });

  test('a file that is none is refused in the words of the service, and can be removed [WEB-47]', async (t) => {
    const tenant = await web.api.createTenant();
    const { page } = await web.open(t, '/imports', { tenant, expected: /400|422/ });
    const broken = { name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from('{"resour') };
    await page.locator('input[type=file]').setInputFiles(broken);
    const line = page.getByRole('listitem').filter({ hasText: 'broken.json' });
    await line
      .getByText(/JSON|rejected/)
      .first()
      .waitFor();
    await line.getByRole('button', { name: 'Remove broken.json' }).click();
    await line.waitFor({ state: 'detached' });
  });

  test('files are chosen from the palette [WEB-47]', async (t) => {
    const { page } = await web.open(t, '/imports');
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('choose');
    await page.getByRole('option', { name: 'Choose files' }).waitFor();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
    const one = { name: 'one.json', mimeType: '', buffer: Buffer.from(JSON.stringify(patient('p1'))) };
    await chooser.setFiles(one);
    await page.getByText('1 record would be taken, none rejected.').waitFor();
  });

  test('an import that is not there is said to be [WEB-48]', async (t) => {
    const { page } = await web.open(t, `/imports/${crypto.randomUUID()}`, { expected: /404/ });
    await page.getByRole('alert').getByText('This could not be read').waitFor();
  });
});
