/** Real processes whose clock is wrong: what they refuse, and that they go on when it is right. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTestApi, type TestApi } from '../../../test-support/service/api.ts';
import { type StartedCommand, startCommand } from '../../../test-support/service/command.ts';
import { addAccount, addTenant, cheapPasswords, PASSWORD } from '../../../test-support/sign-in/sign-in.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';

const SHIFT = new URL('../../../test-support/shifted-clock.js', import.meta.url).href;
const FORTY_DAYS = 40 * 86_400;

describe('a process whose clock is wrong', { timeout: 300_000 }, () => {
  let api: TestApi;
  let folder: string;
  let clockFile: string;
  const started: StartedCommand[] = [];

  before(async () => {
    api = await startTestApi();
    folder = await mkdtemp(join(tmpdir(), 'interchange-clock-'));
    clockFile = join(folder, 'ahead');
  });
  after(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await rm(folder, { recursive: true });
    await api.close();
  });

  async function serve(args: readonly string[], event: string) {
    const service = startCommand(['serve', ...args], {
      env: { ...api.env, PORT: '0', NODE_OPTIONS: `--import ${SHIFT}`, SHIFTED_CLOCK_FILE: clockFile },
    });
    started.push(service);
    const [line] = await service.printed(new RegExp(`.*"event":"${event}".*`));
    return { ...service, origin: `http://127.0.0.1:${(JSON.parse(line) as { port?: number }).port}` };
  }

  const linesOf = (service: StartedCommand, event: string) =>
    service
      .output()
      .stdout.split('\n')
      .filter((line) => line.includes(`"event":"${event}"`));

  test('issues no token and is not ready while it is 40 days ahead; then goes on by itself [OPS-18, OPS-20]', async () => {
    await writeFile(clockFile, String(FORTY_DAYS));
    const { userId } = await addAccount(
      { database: api.database, passwords: cheapPasswords() },
      await addTenant(api.database),
    );
    const login = (origin: string) =>
      fetch(`${origin}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ identity: userId, credential: PASSWORD, userType: 'EHR' }),
      });
    const good = await login(api.origin);
    const { refreshToken } = (await good.json()) as { refreshToken: string };

    const service = await serve(['--role', 'api'], 'listening');
    const refused = await login(service.origin);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '30');
    assert.match(((await refused.json()) as { message: string }).message, /clock of this process/);
    const refresh = await fetch(`${service.origin}/api/v1/auth/refresh`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refreshToken }),
    });
    assert.equal(refresh.status, 503);
    const ready = await fetch(`${service.origin}/readyz`);
    assert.equal(ready.status, 503);
    const { message } = (await ready.json()) as { message: string };
    const aheadSeconds = Number(/ (\d+) s ahead of the database/.exec(message)?.[1]);
    assert.ok(Math.abs(aheadSeconds - FORTY_DAYS) < 30, message);
    const metrics = await (await fetch(`${service.origin}/metrics`)).text();
    const skew = Number(/^interchange_clock_skew_seconds (\S+)$/m.exec(metrics)?.[1]);
    assert.ok(Math.abs(skew - FORTY_DAYS) < 30, `skew ${skew}`);
    assert.equal(linesOf(service, 'clock.off').length, 1, 'said once');

    await writeFile(clockFile, '0');
    await waitUntil(async () => (await fetch(`${service.origin}/readyz`)).status === 200, 'it is ready');
    assert.equal((await login(service.origin)).status, 200);
    assert.equal(linesOf(service, 'clock.right').length, 1);
    await writeFile(clockFile, String(FORTY_DAYS));
    const looked = await fetch(`${service.origin}/readyz`);
    assert.equal(looked.status, 503, 'each look compares the clocks');
    service.child.kill('SIGTERM');
    await service.ended;
  });

  test('removes nothing while it is 40 days ahead; then sweeps', async () => {
    await writeFile(clockFile, String(FORTY_DAYS));
    const { rows: kept } = await api.database.pool.query('select token_hash from refresh_token');
    assert.ok(kept.length > 0);
    await api.database.pool.query(
      `insert into sign_in_counter (identity_hash, network, updated_at) values ('\\x00', '', now() - interval '3 days')`,
    );
    const counters = async () =>
      (await api.database.pool.query(`select from sign_in_counter where identity_hash = '\\x00'`)).rowCount;
    const first = await serve(['--role', 'worker'], 'working');
    first.child.kill('SIGTERM');
    await first.ended;
    assert.equal(linesOf(first, 'clock.off').length, 1);
    assert.equal((await api.database.pool.query('select from refresh_token')).rowCount, kept.length);
    assert.equal(await counters(), 1);

    await writeFile(clockFile, '0');
    const second = await serve(['--role', 'worker'], 'working');
    await waitUntil(async () => (await counters()) === 0, 'it has swept');
    assert.equal((await api.database.pool.query('select from refresh_token')).rowCount, kept.length);
    second.child.kill('SIGTERM');
    await second.ended;
  });
});
