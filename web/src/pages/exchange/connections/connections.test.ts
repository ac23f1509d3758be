/** Connections to exchanges in the console, in a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connect } from '../../../../../test-support/exchange/exchange-records.ts';
import { startExchange } from '../../../../../test-support/exchange/exchange-server.ts';
import { seedRecords } from '../../../../../test-support/records/seed-tenant.ts';
import { NO_BROWSER, useConsole } from '../../../../../test-support/service/console-page.ts';

describe('connections', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  const connected = async (address = 'https://exchange.example.org/patients') => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { keys, database } = web.api;
    const { id } = await connect({ pool: database.pool, keys }, tenant, {
      name: 'National exchange',
      address,
      facilityIds: [tenant.facilityId],
    });
    return { tenant, id };
  };

  test('connects to an exchange, shows the secrets once, and says what was wrong before [WEB-43]', async (t) => {
    const { page } = await web.open(t, '/exchange/connections', { expected: /400/ });
    await page.getByRole('heading', { name: 'This facility has no connection' }).waitFor();
    await page.getByRole('button', { name: 'Connect to an exchange' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect to an exchange' });
    await dialog.getByLabel('Name').fill('Regional exchange');
    await dialog.getByLabel('Address').fill('http://exchange.example.org/patients');
    await dialog.getByLabel('Client id').fill('hospital-7');
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await dialog.getByText(/https/).nth(1).waitFor();
    await dialog.getByLabel('Address').fill('https://exchange.example.org/patients');
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    const secrets = page.getByRole('dialog', { name: 'Give these to the exchange' });
    await secrets.getByRole('button', { name: 'Copy: Outbound secret' }).waitFor();
    await secrets.getByText('/callback').waitFor();
    const [outbound = ''] = await secrets.locator('code').allTextContents();
    await secrets.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('row').filter({ hasText: 'Regional exchange' }).getByText('Enabled').waitFor();
    assert.ok(outbound.length > 20);
    await page.getByRole('link', { name: 'Regional exchange' }).click();
    await page.getByRole('heading', { name: 'What the exchange knows' }).waitFor();
    assert.equal((await page.content()).includes(outbound), false);
  });

  test('a connection says how many of its deliveries are held, and that deliveries fail [WEB-43]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { pool } = web.api.database;
    const { connectionId } = await seedRecords(pool, tenant);
    await pool.query('update exchange_connection set disabled_at = null where id = $1', [connectionId]);
    const { page } = await web.open(t, '/exchange/connections', { tenant });
    await page.getByRole('row').filter({ hasText: 'Enabled' }).getByRole('link').first().click();
    await page.getByRole('link', { name: '1 held' }).click();
    await page.waitForURL(`**/console/exchange/held?connection=${connectionId}`);
    await pool.query(
      `insert into exchange_circuit (organisation_id, connection_id, opened_at) values ($1, $2, now())
       on conflict (organisation_id, connection_id) do update set opened_at = now()`,
      [tenant.organisationId, connectionId],
    );
    await page.goto(`${web.api.origin}/console/exchange/connections/${connectionId}`);
    await page.getByText('Deliveries fail').waitFor();
    await page
      .getByText(
        /^Since .* the exchange does not answer, or answers .* Send a test to see what it answers\.$/,
      )
      .waitFor();
    await page.getByRole('link', { name: '1 held' }).waitFor();
    await page.getByRole('link', { name: 'Show its deliveries' }).waitFor();
    const command = `npx interchange connection resync --id ${connectionId}`;
    await page.getByText(command, { exact: true }).waitFor();
    await page.getByRole('link', { name: 'See what came back in the last tries.' }).click();
    await page.waitForURL(`**/console/exchange?connection=${connectionId}&status=queued`);
    const permissions = ['exchange.connections.manage', 'exchange.deliveries.replay'];
    const other = await web.open(t, `/exchange/connections/${connectionId}`, { tenant, permissions });
    await other.page.getByText('1 held').waitFor();
    for (const name of ['1 held', 'Show its deliveries', 'See what came back in the last tries.'])
      assert.equal(await other.page.getByRole('link', { name }).count(), 0, 'may not read them');
  });

  test('rotates the secrets, and activates the new one [WEB-44]', async (t) => {
    const { tenant, id } = await connected();
    const { page } = await web.open(t, `/exchange/connections/${id}`, { tenant });
    await page.getByRole('button', { name: 'Rotate secrets' }).click();
    await page.getByRole('button', { name: 'Make new secrets' }).click();
    const secrets = page.getByRole('dialog', { name: 'Give these to the exchange' });
    await secrets.getByText(/until you activate the new one/).waitFor();
    await secrets.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByText('New secret waits').waitFor();
    await page.getByRole('button', { name: 'Activate the new secret' }).click();
    await page.getByRole('button', { name: 'Activate', exact: true }).click();
    await page.getByText('signed with the new secret from now on').waitFor();
    await page.getByRole('button', { name: 'Activate the new secret' }).waitFor({ state: 'detached' });
    await page.getByText('Ended', { exact: true }).waitFor();
    await page.getByText('Good until', { exact: true }).waitFor();
  });

  test('secrets are shown, also where the list is not answered then [WEB-43, WEB-44]', async (t) => {
    const { tenant, id } = await connected();
    const { page } = await web.open(t, `/exchange/connections/${id}`, { tenant });
    const showsSecrets = async (send: () => Promise<void>) => {
      await page.route(/\/api\/exchange\/connections/, (route) =>
        route.request().method() === 'GET' ? undefined : route.continue(),
      );
      await send();
      const secrets = page.getByRole('dialog', { name: 'Give these to the exchange' });
      await secrets.getByRole('button', { name: 'Copy: Outbound secret' }).waitFor();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.reload();
    };
    await page.getByRole('button', { name: 'Rotate secrets' }).click();
    await showsSecrets(() => page.getByRole('button', { name: 'Make new secrets' }).click());
    await page.getByRole('link', { name: 'Connections' }).first().click();
    await page.getByRole('button', { name: 'Connect to an exchange' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Connect to an exchange' });
    await dialog.getByLabel('Name').fill('Regional exchange');
    await dialog.getByLabel('Address').fill('https://exchange.example.org/patients');
    await dialog.getByLabel('Client id').fill('hospital-7');
    await showsSecrets(() => dialog.getByRole('button', { name: 'Connect', exact: true }).click());
  });

  test('disables after a question, enables, and edits; a setting that is wrong stays in the form [WEB-4, WEB-44]', async (t) => {
    const { tenant, id } = await connected();
    const { page } = await web.open(t, `/exchange/connections/${id}`, { tenant, expected: /400/ });
    await page.getByRole('button', { name: 'Disable' }).click();
    const question = page.getByRole('dialog', { name: 'Disable National exchange?' });
    await question.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Enable' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('The connection is enabled.').waitFor();
    await page.getByRole('button', { name: 'Disable' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    const form = page.getByRole('dialog', { name: 'Settings' });
    await form.getByLabel('Header of the signature').fill('authorization');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.locator('[aria-invalid="true"]').waitFor();
    await form.getByLabel('Header of the signature').fill('x-hie-signature');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('x-hie-signature').waitFor();
  });

  test('saving sends what was changed, and leaves what somebody else changed meanwhile [WEB-44]', async (t) => {
    const { tenant, id } = await connected();
    const { page, account } = await web.open(t, `/exchange/connections/${id}`, { tenant });
    await page.getByRole('button', { name: 'Edit' }).click();
    const form = page.getByRole('dialog', { name: 'Settings' });
    await form.getByLabel('Client id').fill('clinic-7');
    await web.api.call(`/exchange/connections/${id}`, {
      method: 'PATCH',
      token: account.token,
      body: { name: 'Regional exchange', maxInFlight: 3 },
    });
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Regional exchange', level: 1 }).waitFor();
    const { json } = await web.api.call(`/exchange/connections/${id}`, { token: account.token });
    assert.deepEqual([json.clientId, json.maxInFlight], ['clinic-7', 3]);
  });

  test('a connection that was given all facilities meanwhile keeps them, when one is added in the form [WEB-44]', async (t) => {
    const { tenant, id } = await connected();
    const other = await web.api.createFacility(tenant.organisationId);
    const facilityIds = [tenant.facilityId, other];
    const { page, account } = await web.open(t, `/exchange/connections/${id}`, { tenant, facilityIds });
    await page.getByRole('button', { name: 'Edit' }).click();
    const form = page.getByRole('dialog', { name: 'Settings' });
    await form
      .getByRole('checkbox')
      .and(page.locator(`[value="${other}"]`))
      .check();
    await web.api.database.pool.query(
      'update exchange_connection set all_facilities = true where organisation_id = $1 and id = $2',
      [tenant.organisationId, id],
    );
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    const { json } = await web.api.call(`/exchange/connections/${id}`, { token: account.token });
    assert.equal(json.facilityIds, null);
  });

  test('sends a test, and says what came back: taken, refused, no answer [WEB-49]', async (t) => {
    const exchange = await startExchange();
    t.after(() => exchange.close());
    const { tenant, id } = await connected(exchange.url);
    const { page } = await web.open(t, `/exchange/connections/${id}`, { tenant, expected: /429/ });
    await page.getByRole('button', { name: 'Send a test' }).click();
    const dialog = page.getByRole('dialog', { name: 'Test of National exchange' });
    const afterWaiting = () => {
      web.api.clock.now = new Date(web.api.clock.now.getTime() + 6_000);
    };
    await dialog.getByText('The exchange took the test request.').waitFor();
    await dialog.getByText('HTTP 200').waitFor();
    await dialog.getByText(/^[\d,]+ ms$/).waitFor();
    exchange.behave = () => ({ status: 401 });
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'Wait 5 seconds, then send again.' }).waitFor();
    afterWaiting();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByText('HTTP 401').waitFor();
    await dialog.getByText('Not taken', { exact: true }).waitFor();
    await dialog.getByText(/Check the client id, the outbound secret/).waitFor();
    assert.equal(exchange.arrivals.length, 2);
    exchange.behave = () => ({ status: 404 });
    afterWaiting();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog
      .getByText(/^The exchange answered 404\. It can be reached, but has nothing at this path\./)
      .waitFor();
    await exchange.close();
    afterWaiting();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByText(/could not be reached/).waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await dialog.waitFor({ state: 'detached' });
  });

  test('a test that is sent again leaves the focus where it was [WEB-4, WEB-49]', async (t) => {
    const exchange = await startExchange();
    t.after(() => exchange.close());
    const { tenant, id } = await connected(exchange.url);
    const { page } = await web.open(t, `/exchange/connections/${id}`, { tenant, expected: /429/ });
    await page.getByRole('button', { name: 'Send a test' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('HTTP 200').waitFor();
    const again = dialog.getByRole('button', { name: 'Send again' });
    await again.focus();
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').filter({ hasText: 'Wait 5 seconds, then send again.' }).waitFor();
    await again.and(page.locator(':focus')).waitFor();
  });

  test('a connection that was disabled meanwhile says so when it is tested [WEB-49]', async (t) => {
    const { tenant, id } = await connected();
    const { page } = await web.open(t, `/exchange/connections/${id}`, { tenant, expected: /409/ });
    await page.getByRole('button', { name: 'Send a test' }).waitFor();
    await web.api.database.pool.query(
      'update exchange_connection set disabled_at = now() where organisation_id = $1 and id = $2',
      [tenant.organisationId, id],
    );
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .getByText(/disabled/)
      .waitFor();
  });

  test('its facilities are changed; without the chosen one it leaves the list [WEB-44]', async (t) => {
    const { tenant, id } = await connected();
    const other = await web.api.createFacility(tenant.organisationId);
    const { page } = await web.open(t, `/exchange/connections/${id}`, {
      tenant,
      facilityIds: [tenant.facilityId, other],
    });
    const covered = async () => {
      const { rows } = await web.api.database.pool.query<{ id: string }>(
        `select facility_id as id from exchange_connection_facility
         where organisation_id = $1 and connection_id = $2`,
        [tenant.organisationId, id],
      );
      return rows.map((row) => row.id).sort();
    };
    const form = page.getByRole('dialog', { name: 'Settings' });
    for (const [toggled, wanted] of [
      ['Other Facility', [tenant.facilityId, other].sort()],
      ['Test Facility', [other]],
    ] as const) {
      await page.getByRole('button', { name: 'Edit' }).click();
      await form.getByText('What still waits for a facility that you take out is then held').waitFor();
      await form.getByRole('checkbox', { name: toggled }).click();
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      assert.deepEqual(await covered(), wanted);
    }
    await page.getByRole('heading', { name: 'This facility has no connection' }).waitFor();
    await page.getByText(/It does not cover Test Facility any more\. To see it, choose one/).waitFor();
  });

  test('a form without a facility says what is missing [WEB-43]', async (t) => {
    const tenant = await web.api.createTenant();
    const other = await web.api.createFacility(tenant.organisationId);
    const facilityIds = [tenant.facilityId, other];
    const { page } = await web.open(t, '/exchange/connections', { tenant, facilityIds });
    await page.getByRole('button', { name: 'Connect to an exchange' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect to an exchange' });
    await dialog.getByRole('checkbox', { name: 'Test Facility' }).uncheck();
    await dialog.getByText('Choose at least one facility.').waitFor();
    await dialog.getByRole('checkbox', { name: 'Other Facility' }).check();
    await dialog.getByText('Choose at least one facility.').waitFor({ state: 'detached' });
  });

  test('one that covers a facility of others too is shown, and offers nothing that the service refuses [WEB-44]', async (t) => {
    const { tenant, id } = await connected();
    const other = await web.api.createFacility(tenant.organisationId);
    await web.api.database.pool.query(
      `insert into exchange_connection_facility (organisation_id, connection_id, facility_id)
       values ($1, $2, $3)`,
      [tenant.organisationId, id, other],
    );
    await web.api.database.pool.query(
      'update exchange_circuit set opened_at = now() where organisation_id = $1 and connection_id = $2',
      [tenant.organisationId, id],
    );
    const { page } = await web.open(t, `/exchange/connections/${id}`, { tenant });
    await page.getByText(/One message at a time is tried until that ends\.$/).waitFor();
    await page.getByText(/^This connection also covers facilities that you may not use/).waitFor();
    await page.getByText(other).waitFor();
    await page
      .getByText('If they were lost, ask somebody who may change this connection to rotate them.')
      .waitFor();
    const buttons = ['Send a test', 'Disable', 'Rotate secrets', 'Edit'];
    const offersNothing = async () => {
      for (const name of buttons)
        assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
    };
    await offersNothing();
    await web.api.database.pool.query(
      'update exchange_connection set all_facilities = true where organisation_id = $1 and id = $2',
      [tenant.organisationId, id],
    );
    await page.reload();
    await page.getByText('All of the organisation').waitFor();
    await page.getByText(/^This connection also covers facilities that you may not use/).waitFor();
    await offersNothing();
    const facilityIds = [tenant.facilityId, other];
    const ofAll = await web.open(t, `/exchange/connections/${id}`, { tenant, facilityIds });
    await ofAll.page.getByText(/^It covers every facility of the organisation/).waitFor();
    for (const name of buttons) await ofAll.page.getByRole('button', { name, exact: true }).waitFor();
  });

  test('who may manage connections only comes to them at once [WEB-43]', async (t) => {
    const { tenant } = await connected();
    const { page } = await web.open(t, '/exchange', {
      tenant,
      permissions: ['exchange.connections.manage'],
    });
    await page.getByRole('link', { name: 'National exchange' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/exchange/connections');
  });
});
