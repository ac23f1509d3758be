/** What the service refuses, on French pages: in French, at the field that it is about. In a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { NO_BROWSER, useConsole } from '../../../test-support/service/console-page.ts';
import { addAccount, addTenant, cheapPasswords, PASSWORD } from '../../../test-support/sign-in/sign-in.ts';

describe('errors on French pages', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();

  async function openInFrench(...[t, path, options]: [...Parameters<typeof web.open>]): Promise<Page> {
    return (await web.open(t, path, { ...options, language: 'fr', expected: /4\d\d/ })).page;
  }

  /** Not as the fault of the whole form; the field is ready to be typed in again. */
  async function saysAt(page: Page, label: string, text: string) {
    await page.getByText(text).waitFor();
    assert.equal(await page.getByRole('alert').filter({ hasText: text }).count(), 0);
    await page
      .locator(':focus')
      .and(page.getByLabel(label, { exact: true }))
      .waitFor();
  }

  test('a time zone that is none is refused at its field [WEB-69]', async (t) => {
    const tenant = await web.api.createTenant();
    const page = await openInFrench(t, '/facility', { tenant });
    await page.getByLabel('Fuseau horaire').fill('Nulle/Part');
    await page.getByRole('button', { name: 'Enregistrer' }).click();
    await saysAt(page, 'Fuseau horaire', 'La valeur doit être un nom de la base des fuseaux horaires');
  });

  test('the name of a role that is taken is refused at its field [WEB-69]', async (t) => {
    const tenant = await web.api.createTenant();
    const page = await openInFrench(t, '/roles/new', { tenant });
    for (const turn of ['first', 'second']) {
      await page.getByLabel('Nom', { exact: true }).fill('Accueil');
      await page.getByRole('checkbox', { name: 'Rechercher des patients', exact: true }).check();
      await page.getByRole('button', { name: 'Créer le rôle' }).click();
      if (turn === 'second') break;
      await page.getByRole('heading', { name: 'Accueil', level: 1 }).waitFor();
      await page.goto(`${web.api.origin}/console/roles/new`);
    }
    await saysAt(page, 'Nom', 'Cette organisation a déjà un rôle de ce nom.');
  });

  test('settings of a connection are refused at theirs [WEB-69]', async (t) => {
    const tenant = await web.api.createTenant();
    const page = await openInFrench(t, '/exchange/connections', { tenant });
    await page.getByRole('button', { name: 'Se connecter à une plateforme' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Nom', { exact: true }).fill('Plateforme');
    await dialog.getByLabel('Adresse', { exact: true }).fill('https://127.0.0.1/x');
    await dialog.getByLabel('Identifiant de client', { exact: true }).fill('clinique');
    await dialog.getByRole('button', { name: 'Se connecter', exact: true }).click();
    await saysAt(page, 'Adresse', 'Une adresse définie dans la console ou par HTTP doit être en https');
    await dialog.getByLabel('Adresse', { exact: true }).fill('https://exchange.example.org/x');
    await dialog.getByLabel('Identifiant de client', { exact: true }).fill('é');
    await dialog.getByRole('button', { name: 'Se connecter', exact: true }).click();
    await saysAt(page, 'Identifiant de client', 'L’identifiant de client doit être de 1 à 200');
  });

  test('a new password is refused at its field [WEB-69]', async (t) => {
    const tenant = await addTenant(web.api.database);
    const deps = { database: web.api.database, passwords: cheapPasswords() };
    const { email } = await addAccount(deps, tenant, { userType: 'EHR' });
    const page = await openInFrench(t, '/change-password', { signedOut: true });
    await page.getByLabel('Adresse électronique du compte').fill(email);
    await page.getByLabel('Mot de passe actuel').fill(PASSWORD);
    await page.getByLabel('Nouveau mot de passe').fill('password1234');
    await page.getByRole('button', { name: 'Changer le mot de passe' }).click();
    await saysAt(page, 'Nouveau mot de passe', 'Le mot de passe est l’un des plus courants.');
  });

  test('the language is that of the page, and not of the browser; in English nothing is different [WEB-69]', async (t) => {
    const tenant = await web.api.createTenant();
    const page = await openInFrench(t, '/imports', { tenant });
    const asked: (string | undefined)[] = [];
    page.on('request', (request) => asked.push(request.headers()['accept-language']));
    const broken = { name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from('{"resour') };
    await page.locator('input[type=file]').setInputFiles(broken);
    await page.getByText('Le contenu n’est pas du FHIR R4 que le service sait lire.').waitFor();
    await page.evaluate(`localStorage.setItem('interchange-language', 'en')`);
    await page.goto(`${web.api.origin}/console/imports/${crypto.randomUUID()}`);
    await page.getByText('The import was not found.').waitFor();
    const calls = new Set(asked.filter((language) => language === 'fr' || language === 'en'));
    assert.deepEqual([...calls], ['fr', 'en']);
  });

  test('what was refused in one language is said in the next that is chosen [WEB-69]', async (t) => {
    const tenant = await web.api.createTenant();
    const page = await openInFrench(t, `/imports/${crypto.randomUUID()}`, { tenant });
    await page.getByText('L’importation est introuvable.').waitFor();
    await page.getByRole('button', { name: /^Compte : / }).click();
    await page.getByRole('menuitemradio', { name: 'English' }).click();
    await page.getByText('The import was not found.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
  });

  test('what is kept in English is marked as English [WEB-69]', async (t) => {
    const tenant = await web.api.createTenant();
    const page = await openInFrench(t, '/imports', { tenant });
    const bundle = {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [{ resource: { resourceType: 'Patient', birthDate: 'x' } }],
    };
    const file = {
      name: 'one.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(bundle)),
    };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Afficher le rapport' }).click();
    await page.getByText('Les motifs sont en anglais.').waitFor();
    const table = page.getByRole('table', { name: 'Rejetés' });
    const reason = table.locator('span[lang=en]').first();
    assert.match((await reason.textContent()) ?? '', /\w/);
  });
});
