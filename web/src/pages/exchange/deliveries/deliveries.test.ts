/** Deliveries in the console, in a real browser: the list, one of them, and the review of those that are held. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { updateConnection } from '../../../../../src/exchange/connections/connection.store.ts';
import {
  connect,
  insertPatients,
  queue,
  rename,
} from '../../../../../test-support/exchange/exchange-records.ts';
import { holdDeliveries, refuseDue } from '../../../../../test-support/exchange/held-deliveries.ts';
import { MARKS, seedRecords } from '../../../../../test-support/records/seed-tenant.ts';
import { NO_BROWSER, useConsole } from '../../../../../test-support/service/console-page.ts';

describe('deliveries', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  const web = useConsole();
  const held = async (count: number) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    return { tenant, ...(await holdDeliveries(web.api, tenant, { count })) };
  };
  const statuses = async (organisationId: string) => {
    const { rows } = await web.api.database.pool.query<{ held: boolean }>(
      'select held_at is not null as held from exchange_head where organisation_id = $1',
      [organisationId],
    );
    return rows.map((row) => row.held);
  };

  test('an empty list says when it will not be; filters are in the address [WEB-10]', async (t) => {
    const { page } = await web.open(t, '/exchange');
    await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
    await page.getByLabel('State').selectOption('held');
    await page.waitForURL('**/console/exchange?status=held');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
  });

  test('rows are read page by page as they come into view, and only those in view are drawn [WEB-10]', async (t) => {
    const { api } = web;
    const tenant = await api.createTenant({ timeZone: 'Europe/Paris' });
    const pool = api.database.pool;
    await connect({ pool, keys: api.keys }, tenant, { address: 'https://exchange.example.org/patients' });
    await queue(pool, tenant, await insertPatients(pool, tenant, 120));
    const { page } = await web.open(t, '/exchange', { tenant });
    for (const read of ['50 rows so far', '100 rows so far', '120 rows']) {
      await page.getByText(read, { exact: true }).waitFor();
      await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    }
    await page.locator('tr[data-index="119"]').getByText('Queued').waitFor();
    assert.ok((await page.locator('tbody tr').count()) < 60, 'rows out of view are not in the document');
  });

  test('what the service refuses is said in its words, with a way to try again', async (t) => {
    const { page } = await web.open(t, '/exchange?since=yesterday', { expected: /400|yesterday/ });
    await page.getByRole('heading', { name: 'This could not be read' }).waitFor();
    await page.getByRole('alert').getByText(/since/).waitFor();
    await page.getByText('For the operator, the correlation id:').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
  });

  test('lists what is held with its reason; all are replayed after they were counted [WEB-40, WEB-41]', async (t) => {
    const { tenant } = await held(3);
    const { page } = await web.open(t, '/exchange', { tenant });
    await page.getByRole('link', { name: /Held\s*3/ }).click();
    await page.getByRole('row').filter({ hasText: 'Refused with 422' }).first().waitFor();
    await page.getByRole('button', { name: 'Replay all 3' }).click();
    await page.getByRole('dialog', { name: 'Replay 3 deliveries?' }).waitFor();
    await page.getByRole('button', { name: 'Replay 3', exact: true }).click();
    await page.getByText('3 deliveries are tried again.').waitFor();
    await page.getByRole('heading', { name: 'Nothing is held' }).waitFor();
    await page.getByRole('button', { name: /^(Replay|Skip) all/ }).waitFor({ state: 'detached' });
    assert.deepEqual(await statuses(tenant.organisationId), [false, false, false]);
  });

  test('a replay of what would be held again says so [EXC-59]', async (t) => {
    const { tenant, connectionId } = await held(1);
    const { pool } = web.api.database;
    const facilityIds = [await web.api.createFacility(tenant.organisationId)];
    await updateConnection(pool, { ...tenant, connectionId }, { facilityIds });
    const { page } = await web.open(t, '/exchange/held', { tenant });
    await page.getByRole('button', { name: 'Replay this delivery' }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay this delivery?' });
    await dialog.getByText('1 of them will be held again').waitFor();
  });

  test('with more than one connection, each row names its own; with one, no column says the same in all [WEB-70]', async (t) => {
    const { tenant, connectionId, patientIds } = await held(1);
    const { page } = await web.open(t, '/exchange', { tenant });
    const list = page.getByRole('table', { name: 'Deliveries' });
    const named = () => list.locator('td[data-heading="Connection"]').allTextContents();
    await list.getByText('Held').waitFor();
    assert.deepEqual(await named(), []);
    const { pool } = web.api.database;
    const name = 'Regional exchange';
    await connect({ pool, keys: web.api.keys }, tenant, { name, address: 'https://regional.example.org/' });
    await queue(pool, tenant, patientIds, 'updated');
    for (const path of ['/exchange', `/patients/${patientIds[0]}?tab=deliveries`]) {
      await page.goto(`${web.api.origin}/console${path}`);
      await list.getByText('Held').waitFor();
      assert.deepEqual((await named()).sort(), ['National exchange', name], path);
    }
    await page.goto(`${web.api.origin}/console/exchange/held`);
    await list.getByText('Refused with 422').waitFor();
    assert.deepEqual(await named(), ['National exchange']);
    await page.goto(`${web.api.origin}/console/exchange`);
    await list.getByText('Held').waitFor();
    const reader = await web.open(t, '/exchange', { tenant, permissions: ['exchange.deliveries.read'] });
    await reader.page.getByText(connectionId).first().waitFor();
  });

  test('a connection that is disabled is said to be, in the lists and on the page of a delivery [WEB-40, WEB-42]', async (t) => {
    const { tenant, connectionId } = await held(1);
    const { pool } = web.api.database;
    await pool.query(
      'update exchange_connection set disabled_at = now() where organisation_id = $1 and id = $2',
      [tenant.organisationId, connectionId],
    );
    const { page } = await web.open(t, '/exchange', { tenant });
    await page.getByRole('table', { name: 'Deliveries' }).getByText('National exchange (disabled)').waitFor();
    await page.getByRole('link', { name: 'Patient created' }).click();
    await page.getByRole('link', { name: 'National exchange' }).waitFor();
    await page.getByText('Disabled', { exact: true }).waitFor();
    const path = new URL(page.url()).pathname.replace('/console', '');
    const reader = await web.open(t, path, { tenant, permissions: ['exchange.deliveries.read'] });
    await reader.page.getByText('National exchange', { exact: true }).waitFor();
    await reader.page.getByText('Disabled', { exact: true }).waitFor();
    assert.equal(await reader.page.getByRole('link', { name: 'National exchange' }).count(), 0);
  });

  test('the history says why a delivery was queued, in words that hold for a resync too [WEB-42]', async (t) => {
    const { tenant, patientIds } = await held(1);
    await rename(web.api.database.pool, tenant, patientIds, 'again');
    const { page } = await web.open(t, '/exchange', { tenant });
    await page.getByRole('link', { name: 'Patient created' }).click();
    await page.getByText('The patient was registered.', { exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Patient changed' }).click();
    await page.getByText(/^The patient was changed .*, or the operator queued the patient\./).waitFor();
  });

  test('a queued delivery says what it waits for, and leads to the delivery before it [WEB-42]', async (t) => {
    const { tenant, patientIds, connectionId } = await held(1);
    const { pool } = web.api.database;
    await rename(pool, tenant, patientIds, 'again');
    const { page } = await web.open(t, '/exchange?status=queued', { tenant });
    await page.getByRole('link', { name: 'Patient changed' }).click();
    await page.getByRole('link', { name: /^A held delivery of the patient/ }).click();
    await page.getByRole('button', { name: 'Replay', exact: true }).waitFor();
    await pool.query(
      'update exchange_connection set disabled_at = now() where organisation_id = $1 and id = $2',
      [tenant.organisationId, connectionId],
    );
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('button', { name: 'Replay this delivery' }).click();
    await page.getByText('The connection is disabled: enable it').waitFor();
    assert.equal(await page.getByText(/^(Next try|To be sent since)$/).count(), 0);
  });

  test('where the columns do not fit, each row is a card on which nothing is cut off [WEB-73]', async (t) => {
    const { tenant, patientIds } = await held(1);
    const { pool } = web.api.database;
    const connection = {
      name: 'The exchange of the southern provinces',
      address: 'https://south.example.org/',
    };
    await connect({ pool, keys: web.api.keys }, tenant, connection);
    await queue(pool, tenant, patientIds, 'updated');
    const { page } = await web.open(t, '/exchange', { tenant });
    const list = page.getByRole('table', { name: 'Deliveries' });
    await list.getByText(connection.name).first().waitFor();
    const cut = () =>
      list.getByRole('cell').evaluateAll((cells) =>
        cells
          .flatMap((cell) => [cell, ...cell.querySelectorAll('*')])
          .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent),
      );
    const cards = page.locator('table[class*="cards"]');
    for (const [width, state] of [
      [1280, 'detached'],
      [1024, 'visible'],
      [1280, 'detached'],
      [920, 'visible'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await cards.waitFor({ state });
      if (state === 'visible') assert.deepEqual(await cut(), [], `at ${width} px`);
    }
  });

  test('skips one of many with a reason, and says why it was refused to [WEB-41]', async (t) => {
    const { tenant } = await held(2);
    const { page } = await web.open(t, '/exchange/held', { tenant, expected: /400/ });
    await page.getByRole('checkbox').first().check();
    await page.getByText('1 chosen').waitFor();
    await page.getByRole('button', { name: 'Skip this delivery' }).click();
    const dialog = page.getByRole('dialog', { name: 'Skip this delivery?' });
    await dialog.getByLabel('Reason').fill('   ');
    await dialog.getByRole('button', { name: 'Skip this delivery' }).click();
    await dialog.getByText('The value must be one line of text that is not empty.').waitFor();
    await dialog.getByLabel('Reason').fill('Sent by hand.');
    await dialog.getByRole('button', { name: 'Skip this delivery' }).click();
    await page.getByText('1 delivery is skipped.').waitFor();
    await page.getByRole('button', { name: 'Replay this delivery' }).waitFor();
    assert.equal((await statuses(tenant.organisationId)).filter(Boolean).length, 1);
  });

  test('what somebody else decided meanwhile is refused, and is held in the list no longer [WEB-41]', async (t) => {
    const { tenant } = await held(3);
    const { page, account } = await web.open(t, '/exchange/held', { tenant, expected: /409/ });
    await page.getByRole('checkbox').first().check();
    const { token } = account;
    const { items } = (await web.api.call('/exchange/deliveries?status=held', { token })).json;
    const body = { deliveryIds: [items[0].id], reason: 'Sent by hand.' };
    assert.equal((await web.api.call('/exchange/deliveries/skip', { token, body })).json.count, 1);
    await page.getByRole('button', { name: 'Replay this delivery' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('alert').filter({ hasText: 'is not held' }).waitFor();
    await page.getByRole('dialog', { name: 'Replay', exact: true }).waitFor();
    await page.getByText('2 rows').waitFor();
    // What was asked stays asked: not all that are held, now that nothing is chosen.
    await dialog.getByText('Replay 2').waitFor({ state: 'detached' });
    assert.ok(await dialog.getByRole('button', { name: /^Replay/ }).isDisabled());
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Replay all 2' }).waitFor();
  });

  test('rows that could not be read again are read when somebody tries again [WEB-10]', async (t) => {
    const { tenant } = await held(2);
    const { page, account } = await web.open(t, '/exchange/held', { tenant, expected: /409|ERR_FAILED/ });
    await page.getByRole('checkbox').first().check();
    const { token } = account;
    const { items } = (await web.api.call('/exchange/deliveries?status=held', { token })).json;
    const body = { deliveryIds: [items[0].id], reason: 'Sent by hand.' };
    await web.api.call('/exchange/deliveries/skip', { token, body });
    await page.route('**/exchange/deliveries?*', (route) => route.abort());
    await page.getByRole('button', { name: 'Replay this delivery' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.getByText('These rows could not be read again.').waitFor();
    await page.unrouteAll();
    await again.click();
    await page.getByText('1 row', { exact: true }).waitFor();
  });

  test('several are chosen, and only they are skipped [WEB-41]', async (t) => {
    const { tenant } = await held(3);
    const { page } = await web.open(t, '/exchange/held', { tenant });
    await page.getByRole('checkbox').first().check();
    await page.getByRole('checkbox').nth(2).check();
    await page.getByRole('button', { name: 'Choose none' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('h1:focus').waitFor();
    await page.getByRole('checkbox').first().check();
    await page.getByRole('checkbox').nth(2).check();
    await page.getByRole('button', { name: 'Skip 2', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Skip 2 deliveries?' });
    await dialog.getByLabel('Reason').fill('Sent by hand.');
    await dialog.getByRole('button', { name: 'Skip 2', exact: true }).click();
    await page.getByText('2 deliveries are skipped.').waitFor();
    assert.equal((await statuses(tenant.organisationId)).filter(Boolean).length, 1);
  });

  test('each filter is asked of the service; all that the filters mean are replayed, and no other [WEB-40, WEB-41]', async (t) => {
    const { tenant, patientIds } = await held(2);
    const { id: other } = await connect({ pool: web.api.database.pool, keys: web.api.keys }, tenant, {
      name: 'Other exchange',
      address: 'https://other.example.org/patients',
      facilityIds: [tenant.facilityId],
    });
    const { page } = await web.open(t, '/exchange/held', { tenant });
    const nothing = page.getByRole('heading', { name: 'Nothing matches the filters' });
    for (const [label, day] of [
      ['Queued since', '2099-01-01'],
      ['Queued before', '2000-01-01'],
    ] as const) {
      await page.getByText('2 rows', { exact: true }).waitFor();
      await page.getByLabel(label).fill(day);
      await nothing.waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
    }
    await page.getByLabel('Connection').selectOption(other);
    await nothing.waitFor();
    await page.getByLabel('Connection').selectOption('National exchange');
    await page.getByText('2 rows', { exact: true }).waitFor();
    await page.getByLabel('Patient id').fill(String(patientIds[1]));
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Replay this delivery' }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay this delivery?' });
    await dialog.getByText('It is the only one that matches the filters of the list.').waitFor();
    await dialog.getByRole('button', { name: 'Replay this delivery' }).click();
    await page.getByText('1 delivery is tried again.').waitFor();
    const { rows } = await web.api.database.pool.query<{ patient: string }>(
      `select patient_id as patient from exchange_head where organisation_id = $1 and held_at is not null`,
      [tenant.organisationId],
    );
    assert.deepEqual(rows, [{ patient: patientIds[0] }]);
  });

  test('callbacks are listed with what the exchange said, and lead to their delivery [WEB-40]', async (t) => {
    const tenant = await web.api.createTenant({ timeZone: 'Europe/Paris' });
    const { deliveryId } = await seedRecords(web.api.database.pool, tenant);
    const { page } = await web.open(t, '/exchange/callbacks', { tenant });
    await page.getByLabel('Answer').selectOption('Rejected');
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await page.getByLabel('Answer').selectOption('Accepted');
    const row = page.getByRole('row').filter({ hasText: MARKS.assignedId });
    await row.getByText('Accepted').waitFor();
    await row.getByRole('link').click();
    await page.waitForURL(`**/exchange/deliveries/${deliveryId}`);
    await page.getByText(`Accepted, with the id ${MARKS.assignedId}`).waitFor();
  });

  test('with more than one connection, each callback names its own, and the list is filtered by it [WEB-40, WEB-70]', async (t) => {
    const tenant = await web.api.createTenant();
    const { pool } = web.api.database;
    const { connectionId } = await seedRecords(pool, tenant);
    const { page } = await web.open(t, '/exchange/callbacks', { tenant });
    const list = page.getByRole('table', { name: 'Callbacks' });
    const named = () => list.locator('td[data-heading="Connection"]').allTextContents();
    await list.getByText(MARKS.assignedId).waitFor();
    assert.deepEqual(await named(), []);
    const [own, other] = ['National exchange', 'Regional exchange'];
    await pool.query('update exchange_connection set name = $3 where organisation_id = $1 and id = $2', [
      tenant.organisationId,
      connectionId,
      own,
    ]);
    await connect({ pool, keys: web.api.keys }, tenant, {
      name: other,
      address: 'https://regional.example.org/',
    });
    await page.reload();
    await list.getByText(MARKS.assignedId).waitFor();
    assert.deepEqual(await named(), [own]);
    await page.getByLabel('Connection').selectOption(other);
    await page.getByRole('heading', { name: 'Nothing matches the filters' }).waitFor();
    await page.getByLabel('Connection').selectOption(own);
    await page.waitForURL(`**/exchange/callbacks?connection=${connectionId}`);
    await list.getByText(MARKS.assignedId).waitFor();
    for (const language of ['en', 'fr']) {
      await page.evaluate(`localStorage['interchange-language'] = '${language}'`);
      await page.reload();
      await page.getByText(MARKS.assignedId).waitFor();
      const cut = await page
        .getByRole('columnheader')
        .evaluateAll((all) =>
          all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
        );
      assert.deepEqual(cut, [], language);
    }
  });

  test('one delivery tells what happened, shows the message when asked, is replayed, and shows by itself what became of it [WEB-42]', async (t) => {
    const { tenant, patientIds, connectionId } = await held(1);
    const { page } = await web.open(t, '/exchange/held', { tenant });
    await page.getByRole('link', { name: 'Patient created' }).click();
    await page.getByRole('heading', { name: 'Patient created', level: 1 }).waitFor();
    await page.getByText('The exchange answered 422, after 38 ms.').waitFor();
    await page.getByRole('link', { name: 'National exchange' }).waitFor();
    await page.getByRole('link', { name: String(patientIds[0]) }).click();
    await page.waitForURL(`**/patients/${patientIds[0]}`);
    await page.goBack();
    await page.getByRole('button', { name: 'Show the message' }).click();
    await page.getByText(`"${patientIds[0]}"`).first().waitFor();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('button', { name: 'Replay this delivery' }).click();
    await page.getByText('By you.').waitFor();
    await page.getByText('Queued', { exact: true }).first().waitFor();
    await page.getByRole('listitem').filter({ hasText: 'To be sent since' }).waitFor();
    assert.deepEqual(await statuses(tenant.organisationId), [false]);
    await refuseDue(web.api.database.pool, { organisationId: tenant.organisationId, connectionId }, 1);
    await page.getByRole('button', { name: 'Replay', exact: true }).waitFor();
  });

  test('when the session ends, nothing of the message stays in the page, also where a reason to skip is not sent [WEB-5]', async (t) => {
    const { tenant } = await held(1);
    const { page } = await web.open(t, '/exchange/held', { tenant, expected: /401/ });
    await page.getByRole('link', { name: 'Patient created' }).click();
    await page.getByRole('button', { name: 'Show the message' }).click();
    await page.getByText('"Patient"').waitFor();
    await page.getByRole('button', { name: 'Skip', exact: true }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('sent by hand');
    await page.context().clearCookies();
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.ok(!(await page.content()).includes('"Patient"'), 'the message is in the page');
  });

  test('a queued delivery whose last try failed says so, but not where the connection is disabled; one that is due does not promise a try in the past [WEB-40, WEB-42]', async (t) => {
    const { tenant, connectionId } = await held(1);
    const { page, account } = await web.open(t, '/exchange/held', { tenant });
    await web.api.database.pool.query(
      `update exchange_attempt set outcome = 'failed', status = 401 where organisation_id = $1`,
      [tenant.organisationId],
    );
    const body = { connectionId };
    await web.api.call('/exchange/deliveries/replay', { method: 'POST', token: account.token, body });
    await page.goto(`${web.api.origin}/console/exchange`);
    await page.getByRole('table').getByText('Retrying').waitFor();
    await page.getByRole('table').getByText('Answered 401', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Patient created' }).click();
    await page.getByText('Retrying').waitFor();
    await page.getByText('To be sent since').first().waitFor();
    assert.equal(await page.getByText('Next try').count(), 0);
    const { organisationId } = tenant;
    const disable = 'update exchange_connection set disabled_at = now() where organisation_id = $1';
    await web.api.database.pool.query(disable, [organisationId]);
    await page.getByText('The connection is disabled: enable it').waitFor();
    assert.equal(await page.getByText('Retrying').count(), 0);
    await page.goto(`${web.api.origin}/console/exchange`);
    await page.getByRole('table').getByText('Queued').waitFor();
  });

  test('a row whose patient refuses the purpose leads to no page that is closed [WEB-40]', async (t) => {
    const { tenant } = await held(1);
    await web.api.database.pool.query(
      `update patient set refused_purposes = '{OPS}' where organisation_id = $1`,
      [tenant.organisationId],
    );
    const { page } = await web.open(t, '/exchange/held', { tenant });
    const row = page.getByRole('row').filter({ hasText: 'Not shown: the patient refuses it' });
    await row.getByText('Patient created').waitFor();
    assert.equal(await row.getByRole('link').count(), 0);
  });

  test('a page that stays open promises no next try once its time has passed [WEB-42]', async (t) => {
    const { tenant, connectionId } = await held(1);
    const { page, account } = await web.open(t, '/exchange/held', { tenant });
    const body = { connectionId };
    await web.api.call('/exchange/deliveries/replay', { method: 'POST', token: account.token, body });
    await web.api.database.pool.query(
      `update exchange_head set due_at = now() + interval '1 hour' where organisation_id = $1`,
      [tenant.organisationId],
    );
    await page.goto(`${web.api.origin}/console/exchange`);
    await page.getByRole('link', { name: 'Patient created' }).click();
    await page.getByText('Next try').first().waitFor();
    await page.clock.setFixedTime(Date.now() + 7_200_000);
    await page.getByText('To be sent since').first().waitFor();
    assert.equal(await page.getByText('Next try').count(), 0);
  });

  test('that the exchange was down is said of no try that was delivered, withheld or never sent [WEB-42]', async (t) => {
    const { tenant, connectionId } = await held(1);
    const { pool } = web.api.database;
    const { page, account } = await web.open(t, '/exchange/held', { tenant });
    const { items } = (await web.api.call('/exchange/deliveries', { token: account.token })).json;
    const down = 'It did not count as a try: deliveries to the exchange were failing.';
    for (const [outcome, text, said] of [
      ['refused', 'The exchange answered 422, after', 1],
      ['delivered', 'The exchange answered 422, after', 0],
      ['withheld', 'The patient refuses the purpose of the connection.', 0],
      [
        'unsent',
        'Before the message was sent, deliveries to the exchange began to fail, or something changed.',
        0,
      ],
    ] as const) {
      await pool.query(
        'update exchange_attempt set outcome = $3, counted = false where organisation_id = $1 and connection_id = $2',
        [tenant.organisationId, connectionId, outcome],
      );
      await page.goto(`${web.api.origin}/console/exchange/deliveries/${items[0].id}`);
      await page.getByText(text).waitFor();
      assert.equal(await page.getByText(down).count(), said, outcome);
    }
  });

  test('a name is called unknown only where a name server said so [WEB-42]', async (t) => {
    const { tenant, connectionId } = await held(1);
    const { page, account } = await web.open(t, '/exchange/held', { tenant });
    const { items } = (await web.api.call('/exchange/deliveries', { token: account.token })).json;
    for (const [failure, said] of [
      ['ENOTFOUND', 'The name in the address of the exchange is not known.'],
      ['EAI_AGAIN', 'The name in the address of the exchange could not be looked up: DNS did not answer.'],
    ] as const) {
      await web.api.database.pool.query(
        `update exchange_attempt set outcome = 'failed', status = null, failure = $3
         where organisation_id = $1 and connection_id = $2`,
        [tenant.organisationId, connectionId, failure],
      );
      await page.goto(`${web.api.origin}/console/exchange/deliveries/${items[0].id}`);
      await page.getByText(said).waitFor();
    }
  });

  test('who may not decide is told the permission; a delivery that is not there is said to be [WEB-41, WEB-42]', async (t) => {
    const { tenant } = await held(1);
    const permissions = ['exchange.deliveries.read'];
    const { page } = await web.open(t, '/exchange/held', { tenant, permissions, expected: /404/ });
    await page.getByText('exchange.deliveries.replay').waitFor();
    assert.equal(await page.getByRole('checkbox').count(), 0);
    await page.goto(`${web.api.origin}/console/exchange/deliveries/${crypto.randomUUID()}`);
    await page.getByRole('alert').waitFor();
  });
});
