/** What the service names by a code, on French pages. In a real browser. */
import { describe, test } from 'node:test';
import { NO_BROWSER, useConsole } from '../../../test-support/service/console-page.ts';

interface Permissions {
  items: { name: string; allows: string }[];
}

describe('codes of the service in words', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  test('permissions and changes are said in French, and a code that is unknown as the service says it [WEB-67]', async (t) => {
    const { page } = await web.open(t, '/my-account', { language: 'fr' });
    await page.route('**/roles/permissions', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as Permissions;
      const [first] = body.items;
      body.items.push({ ...first, name: 'patients.later', allows: 'do what a later service allows' });
      body.items.push({ ...first, name: 'patients.patients', allows: 'do what others begin with' });
      await route.fulfill({ response: answer, json: body });
    });
    await page.goto(`${web.api.origin}/console/roles/new`);
    await page.getByRole('checkbox', { name: 'Rechercher des patients', exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'Do what a later service allows' }).waitFor();
    await page.getByRole('checkbox', { name: 'Do what others begin with' }).waitFor();
    await page.goto(`${web.api.origin}/console/audit`);
    await page.getByRole('cell', { name: 'Établissement créé' }).first().waitFor();
    await page.getByText('fuseau horaire').first().waitFor();
  });

  test('a name and what it names are joined as each language writes it [WEB-8]', async (t) => {
    for (const { language, option } of [
      { option: /^Export: As CSV, for a spreadsheet$/ },
      { language: 'fr', option: /^Exporter\s: En CSV, pour un tableur$/ },
    ] as const) {
      const { page } = await web.open(t, '/audit', language === undefined ? {} : { language });
      await page.locator('h1').waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: option }).waitFor();
      await page.keyboard.press('Escape');
    }
  });
});
