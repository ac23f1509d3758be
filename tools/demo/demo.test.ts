/** What `npm start` prints, run line by line as a reader would. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase } from '../../test-support/database/database.ts';
import { makeDataDir } from '../../test-support/database/embedded.ts';
import {
  runJson,
  runProcess,
  type StartedCommand,
  startCommand,
} from '../../test-support/service/command.ts';
import { freePort, listenHere } from '../../test-support/service/free-port.ts';
import { waitUntil } from '../../test-support/wait-until.ts';
import { demoIdentity } from './demo-organisation.ts';

const run = promisify(execFile);
const ENTRY = fileURLToPath(new URL('../../src/bin/interchange.ts', import.meta.url));
const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
/** Of the simulators. Whole, so that no id, password or port of the page holds one by chance. */
const ADDRESSES = ['http://127.0.0.1:4100/', 'http://127.0.0.1:4200/'];
const FACTS = [
  'administrator',
  'console',
  'dataDir',
  'email',
  'encounterId',
  'facilityId',
  'family',
  'imagingOrderId',
  'labOrderId',
  'organisationId',
  'password',
  'patientId',
  'publicBaseUrl',
  'userId',
  'vitalSetId',
];

describe('the demo', { timeout: 300_000 }, () => {
  let data: Awaited<ReturnType<typeof makeDataDir>>;
  let work: string;
  let demo: StartedCommand;
  let page: string;
  let freePorts: string[];

  before(async () => {
    data = await makeDataDir();
    work = await mkdtemp(join(tmpdir(), 'interchange-demo-'));
    await writeFile(join(work, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${ENTRY}' "$@"\n`);
    await chmod(join(work, 'npx'), 0o755);
    freePorts = [String(await freePort()), String(await freePort())];
    await start();
  });
  after(async () => {
    demo?.child.kill('SIGTERM');
    await demo?.ended;
    await data?.remove();
    await rm(work, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    demo = startCommand(['start'], { env: { DATA_DIR: data.path, PORT: '0', LOG_LEVEL: 'error' } });
    await demo.printed(/start again with new data\.\n/);
    page = demo.output().stdout;
  }

  /** Runs the printed commands of one step in one shell, after those that sign in and prepare the terminal. */
  async function step(number: number, signedIn = true): Promise<string> {
    const earlier = signedIn ? [...commandsOf(2), ...commandsOf(8)] : [];
    const lines = [...earlier, ...commandsOf(number)].join('\n');
    const script = `set -e\n${elsewhere(lines)}\n[ -z "$!" ] || kill $!\n`;
    const { stdout } = await run('sh', ['-c', script], {
      cwd: number === 10 ? CHECKOUT : work,
      env: { ...process.env, PATH: `${work}:${process.env.PATH}` },
      timeout: 60_000,
    });
    return stdout;
  }

  /** The same commands, with the simulators on ports that are free. */
  function elsewhere(lines: string): string {
    const [exchange = '', fhir = ''] = freePorts;
    return lines
      .replaceAll(ADDRESSES[0] ?? '', `http://127.0.0.1:${exchange}/`)
      .replaceAll(ADDRESSES[1] ?? '', `http://127.0.0.1:${fhir}/`)
      .replace('exchange-simulator ', `exchange-simulator --port ${exchange} `)
      .replace('fhir-simulator ', `fhir-simulator --port ${fhir} `);
  }

  function commandsOf(number: number): string[] {
    const text = new RegExp(`^${number}\\. .*\\n((?: {3}.*\\n)+)`, 'm').exec(page)?.[1];
    assert.ok(text, `step ${number} is there`);
    return text.split('\n').map((line) => line.trim());
  }

  test('shows where things are [CMD-19]', async () => {
    for (const [, address = ''] of page.matchAll(/^ {2}(?:Reference|Health) +(\S+)/gm))
      assert.equal((await fetch(address)).status, 200, address);
  });

  /** Signs the administrator in at the console. Returns a function that calls the API as the console does. */
  async function atConsole(): Promise<(path: string, body?: object) => Promise<Record<string, unknown>>> {
    const told = (name: string) => new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(page)?.[1] ?? '';
    const address = told('Console');
    assert.equal(new URL(address).hostname, 'localhost');
    const password = /Sign in as .*\n {2}Password +(\S+)/.exec(page)?.[1];
    const headers = { 'content-type': 'application/json', 'x-interchange-console': '1' };
    const answer = await fetch(new URL('api/session', address), {
      method: 'POST',
      headers,
      body: JSON.stringify({ email: told('Sign in as'), password }),
    });
    assert.deepEqual(await answer.json(), { state: 'signed-in' });
    const cookie = answer.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
    return async (path, body) => {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      // A connection is tested once in five seconds.
      const reply = await waitUntil(async () => {
        const answered = await fetch(new URL(`api/${path}`, address), {
          headers: { ...headers, cookie },
          ...sent,
        });
        return answered.status === 429 ? undefined : answered;
      }, `${path} may be called`);
      assert.equal(reply.status, 200, path);
      return (await reply.json()) as Record<string, unknown>;
    };
  }

  /** Where the connection leads, once it was seen that the exchange takes a test request there. */
  async function exchangeAddress(): Promise<string> {
    const call = await atConsole();
    const { items } = (await call('exchange/connections')) as { items: Record<string, string>[] };
    const { id, address = '' } = items.find(({ name }) => name === 'Demo exchange') ?? {};
    assert.equal((await call(`exchange/connections/${id}/test`, {})).status, 202);
    return address;
  }

  type CallConsole = Awaited<ReturnType<typeof atConsole>>;

  async function deliveriesIn(call: CallConsole, status: string): Promise<{ id: string }[]> {
    const { items } = await call(`exchange/deliveries?status=${status}`);
    return items as { id: string }[];
  }

  test('lets the administrator in at the console [CMD-19]', async () => {
    await atConsole();
  });

  test('has something to mend: a held delivery and local codes without a map [CMD-26]', async () => {
    const call = await atConsole();
    await waitUntil(async () => (await deliveriesIn(call, 'delivered')).length === 5, 'five are delivered');
    await waitUntil(async () => (await deliveriesIn(call, 'held')).length === 1, 'one is held');
    const { attention } = await call('overview');
    assert.deepEqual(attention, [
      { kind: 'held-deliveries', count: 1, more: false },
      { kind: 'unmapped-codes', count: 4, more: false },
    ]);
    const { items } = (await call('terminology/unmapped')) as {
      items: { localCode: string; count: number }[];
    };
    assert.deepEqual(items.map(({ localCode, count }) => `${localCode} ${count}`).sort(), [
      'CHOL 2',
      'CREA 2',
      'PLT 4',
      'XR-WRIST-2 4',
    ]);
  });

  test('each call of data says where and why, as docs/first-call.md asks [CMD-20]', () => {
    const calls = [3, 4, 5, 6, 7, 12]
      .flatMap((number) =>
        commandsOf(number)
          .join('\n')
          .split(/(?=curl )/),
      )
      .filter((call) => call.startsWith('curl '));
    assert.equal(calls.length, 8);
    for (const call of calls) {
      assert.match(call, /[?&]purposeOfUse=(TREATMENT|OPS)\b/);
      assert.match(call, /-H "x-org-id: \$ORG_ID" -H "x-facility-id: \$FACILITY_ID"/);
    }
  });

  test('says how to end each simulator that it starts', () => {
    const started = [...page.matchAll(/^\d+\. .*\n(?: {3}.*\n)+/gm)].filter(([step]) =>
      step.includes(' &\n'),
    );
    assert.equal(started.length, 2);
    for (const { 0: step, index } of started)
      assert.match(
        page.slice(index + step.length),
        /^\n.*\b[Ee]nd (?:it|this simulator) with kill %\d/,
        step,
      );
  });

  test('signs in, finds the patient and reads encounters [CMD-20]', async () => {
    const { userId } = JSON.parse(await step(1, false)) as { userId: string };
    assert.ok(page.includes(`User id        ${userId}`));
    const found = JSON.parse(await step(3)) as { items: unknown[] };
    assert.ok(found.items.length > 0);
    const bundle = JSON.parse(await step(4)) as { type: string; entry: unknown[] };
    assert.deepEqual([bundle.type, bundle.entry.length], ['searchset', 5]);
    assert.equal((JSON.parse(await step(5)) as { resourceType: string }).resourceType, 'Encounter');
  });

  test('fetches laboratory, imaging and vital signs [CMD-20]', async () => {
    const [lab, imaging, vitals] = JSON.parse(`[${(await step(6)).replaceAll('}{', '},{')}]`) as Record<
      string,
      unknown[]
    >[];
    assert.ok(lab?.observations?.length && lab.reports?.length && lab.orders?.length);
    assert.ok(imaging?.orders?.length);
    assert.ok(vitals?.vitalSetId && vitals.observations?.length);
  });

  test('shows the trace and proves it', async () => {
    const { items } = JSON.parse(await step(7)) as { items: { action: string; purposeOfUse: string }[] };
    const purposesOf = new Map(items.map(({ action, purposeOfUse }) => [action, purposeOfUse]));
    for (const action of ['patient.list', 'encounter.read', 'lab-order.read', 'vital-set.read'])
      assert.equal(purposesOf.get(action), 'TREATMENT', action);
    assert.match(await step(9), /whole/);
  });

  test('takes its records again, and nothing changes', async () => {
    assert.match(await step(10), /Patient\s+6/);
  });

  test('delivers to the simulator [CMD-20]', async () => {
    assert.match(await step(11), /patient\.created/);
    // The file with secrets is in the data folder, not where the command ran, and only its owner may read it.
    assert.ok(!(await readdir(work)).includes('connection.json'));
    assert.equal((await stat(join(data.path, 'connection.json'))).mode & 0o777, 0o600);
  });

  test('publishes to the simulator [CMD-20]', async () => {
    const printed = await step(12);
    assert.match(printed, /PUT DiagnosticReport\/\S+ 201/);
    assert.match(printed, /"target":"local","published":\[\{/);
  });

  test('delivers and publishes on another day, by what is there already [CMD-20]', async () => {
    const secrets = await readFile(join(data.path, 'connection.json'), 'utf8');
    assert.match(await step(11), /patient\.created/);
    assert.equal(await readFile(join(data.path, 'connection.json'), 'utf8'), secrets);
    const { items } = (await (await atConsole())('exchange/connections')) as { items: { name: string }[] };
    assert.deepEqual(items.map(({ name }) => name).sort(), ['Demo exchange', 'Local exchange']);
    assert.match(await step(12), /"target":"local","published":\[\{/);
  });

  test('signs out', async () => {
    assert.equal(await step(13), '204\n');
  });

  test('is the same after a restart [CMD-19]', async () => {
    const withoutPorts = () => page.replaceAll(/(127\.0\.0\.1|localhost):\d+/g, 'HOST');
    const before = withoutPorts();
    const exchange = await exchangeAddress();
    const port = Number(new URL(exchange).port);
    assert.ok(port < 32_768, `the system may give ${port} to another program before the restart`);
    demo.child.kill('SIGTERM');
    const { code, stdout } = await demo.ended;
    assert.equal(code, 0);
    assert.match(stdout, /\nStopping: the calls in progress are finished first\..*\nStopped\.\n$/);
    await start();
    assert.equal(withoutPorts(), before);
    assert.equal(await exchangeAddress(), exchange);
  });

  test('stops in order when the same Ctrl-C ended the reader of its output [CMD-19]', async () => {
    demo.child.stdout.destroy();
    demo.child.kill('SIGINT');
    const { stderr } = await demo.ended;
    assert.equal(stderr, '');
    assert.ok(!existsSync(join(data.path, 'postgresql', 'postmaster.pid')), 'its database was stopped too');
    await start();
  });

  test('the held delivery is taken when it is replayed, also after a restart [CMD-26]', async () => {
    const call = await atConsole();
    const [held] = await deliveriesIn(call, 'held');
    assert.ok(held);
    await call('exchange/deliveries/replay', { deliveryIds: [held.id] });
    await waitUntil(
      async () => (await deliveriesIn(call, 'delivered')).some(({ id }) => id === held.id),
      'it is delivered',
    );
    assert.deepEqual(await deliveriesIn(call, 'held'), []);
  });

  test('prints its facts as one JSON document; its log goes to stderr [CMD-4]', async () => {
    const env = { DATA_DIR: data.path, PORT: '0', LOG_LEVEL: 'info' };
    const other = startCommand(['demo', '--json'], { env });
    const exchange = await exchangeAddress();
    await other.printed(/\n\}\n/);
    other.child.kill('SIGTERM');
    const { stdout, stderr } = await other.ended;
    assert.match(stderr, /"event":"listening"/);
    const base = /Base address +(\S+)/.exec(page)?.[1];
    assert.match(
      stderr,
      new RegExp(
        `^note: The service runs on this data already, started last at ${base}\\. .*PUBLIC_BASE_URL`,
        'm',
      ),
    );
    assert.doesNotMatch(demo.output().stderr, /^note:/m, 'the first start found nobody');
    const { administrator, ...facts } = JSON.parse(stdout) as Record<string, string>;
    assert.deepEqual(Object.keys({ ...facts, administrator }).sort(), FACTS);
    const told = Object.entries({ ...facts, ...(administrator as unknown as Record<string, string>) });
    for (const [name, fact] of told)
      assert.ok(name === 'publicBaseUrl' || name === 'console' || page.includes(fact), name);
    assert.equal(await exchangeAddress(), exchange, 'a second process leaves the exchange of the first');
  });

  test('prints where it listens, and PUBLIC_BASE_URL as that [CMD-19]', async (t) => {
    const PUBLIC_BASE_URL = 'https://records.example.org/clinic/api/v1';
    const env = { DATA_DIR: data.path, PORT: '0', LOG_LEVEL: 'error', PUBLIC_BASE_URL };
    const other = startCommand(['start'], { env });
    t.after(async () => {
      other.child.kill('SIGTERM');
      await other.ended;
    });
    await other.printed(/start again with new data\.\n/);
    const { stdout } = other.output();
    const told = (name: string) => new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(stdout)?.[1] ?? '';
    const base = told('Base address');
    assert.equal((await fetch(`${base}/docs`)).status, 200);
    assert.equal(told('Public address'), PUBLIC_BASE_URL);
    assert.match(stdout, /This is PUBLIC_BASE_URL/);
    assert.doesNotMatch(page, /Public address/, 'where it is not set');
    assert.ok(stdout.includes(`curl -s ${base}/auth/verify`));
    assert.match(stdout, new RegExp(`export DATA_DIR=\\S+ PUBLIC_BASE_URL=${PUBLIC_BASE_URL}\\n`));
  });

  test('makes no second demo where only the database of one is, such as after a restore [CMD-19]', async () => {
    const [identity, elsewhere] = [join(data.path, 'demo.json'), join(work, 'demo.json')];
    const organisations = () => runJson(['organisation', 'list'], { env: { DATA_DIR: data.path } });
    const before = await organisations();
    demo.child.kill('SIGTERM');
    await demo.ended;
    await rename(identity, elsewhere);
    const env = { DATA_DIR: data.path, PORT: '0', LOG_LEVEL: 'error' };
    const { code, stderr } = await runProcess(['start'], { env, timeoutMs: 60_000 });
    assert.equal(code, 1);
    assert.match(stderr, /already has the account demo@example\.org.*npx interchange serve/);
    assert.ok(!existsSync(identity), 'no password is kept that fits nothing');
    await rename(elsewhere, identity);
    await start();
    assert.deepEqual(await organisations(), before);
  });

  test('the exchange moves when its port is taken [CMD-26]', async () => {
    const address = await exchangeAddress();
    demo.child.kill('SIGTERM');
    await demo.ended;
    const taken = createServer();
    await listenHere(taken, Number(new URL(address).port));
    try {
      await start();
      assert.notEqual(await exchangeAddress(), address);
    } finally {
      taken.close();
    }
  });
});

test('first starts at the same moment make one demo, and tell the same of it [CMD-19]', async (t) => {
  const data = await makeDataDir();
  t.after(() => data.remove());
  const env = { DATA_DIR: data.path, PORT: '0', LOG_LEVEL: 'error' };
  const demos = [startCommand(['demo', '--json'], { env }), startCommand(['demo', '--json'], { env })];
  t.after(() => Promise.all(demos.map(({ child, ended }) => child.kill('SIGTERM') && ended)));
  const [first, second] = await Promise.all(
    demos.map(async (demo) => {
      await demo.printed(/\n\}\n/);
      const { publicBaseUrl: _, console: __, ...facts } = JSON.parse(demo.output().stdout);
      return facts;
    }),
  );
  assert.deepEqual(second, first);
});

test('a damaged identity is refused without a word of what it holds', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const folder = await mkdtemp(join(tmpdir(), 'interchange-demo-'));
  t.after(() => rm(folder, { recursive: true }));
  const { password } = await demoIdentity(database.pool, folder);
  assert.equal((await demoIdentity(database.pool, folder)).password, password);
  await writeFile(join(folder, 'demo.json'), `"${password}`);
  await assert.rejects(demoIdentity(database.pool, folder), ({ message }: Error) => {
    assert.match(message, /demo\.json cannot be read \(damaged\)/);
    return !message.includes(password);
  });
});
