/**
 * Runs every flow against a real service at LOG_LEVEL=debug, and then finds none of its passwords, tokens,
 * secrets and patients in what the service, its commands and its PostgreSQL wrote.
 */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Secret } from 'otpauth';
import pg from 'pg';
import type { EmbeddedPostgres } from '../local-postgres/embedded-postgres.ts';
import { PERMISSIONS } from '../src/tenancy/roles/permissions.ts';
import { makeDataDir, openHere } from '../test-support/database/embedded.ts';
import { sampleBundle } from '../test-support/records/sample-bundle.ts';
import type { Json } from '../test-support/service/api.ts';
import { type Collector, startCollector } from '../test-support/service/collector.ts';
import { runProcess, type StartedCommand, startCommand } from '../test-support/service/command.ts';
import { listenHere } from '../test-support/service/free-port.ts';
import { codesOf } from '../test-support/sign-in/second-factor.ts';
import { waitUntil } from '../test-support/wait-until.ts';

const PATIENT = {
  family: 'Quixzotterdam',
  given: 'Yevgrafiyana',
  identifier: 'MRN-77310442',
  phone: '+999-555-0177-310',
  email: 'yev.quix@patients.example.net',
  birthDate: '1951-07-19',
};
const PASSWORDS = {
  right: 'correct-horse-battery-4417',
  wrong: 'wrong-horse-battery-9921',
  next: 'another-horse-battery-3305',
  ofPerson: 'person-horse-battery-6084',
  nextOfPerson: 'person-horse-battery-7195',
  inIdentity: 'typed-into-the-wrong-field-5512',
};
const RECORDS = sampleBundle(PATIENT);
const TARGET_SECRET = 'target-bearer-secret-8830';

interface Answer {
  status: number;
  json: Json;
  text: string;
}

describe('the logs of every flow', { timeout: 300_000 }, () => {
  /** Ends what was started, also where the rest could not start. */
  const started = new AsyncDisposableStack();
  let folder: Awaited<ReturnType<typeof makeDataDir>>;
  let env: Record<string, string>;
  let service: StartedCommand;
  let baseUrl: string;
  let embedded: EmbeddedPostgres;
  let owner: pg.Client;
  let collector: Collector;
  let outside: { server: Server; url: string; received: number };
  /** What must not be found, with what it is. */
  const secrets = new Map<string, string>();
  /** What was written, by where. */
  const written = new Map<string, string>();
  const ids: Record<string, string> = {};

  const keep = (name: string, secret: string | undefined) => {
    assert.ok(secret !== undefined && secret.length >= 8, `${name} is there`);
    secrets.set(secret, name);
    return secret;
  };
  const keepToken = (name: string, token: string) => {
    for (const [index, part] of token.split('.').entries())
      if (part.length > 60) keep(`${name} part ${index}`, part);
    return keep(name, token);
  };

  before(async () => {
    for (const [name, value] of Object.entries({ ...PATIENT, ...PASSWORDS })) keep(name, value);
    keep('target secret', TARGET_SECRET);
    outside = await startOutside();
    started.defer(() => void outside.server.close());
    collector = await startCollector();
    started.defer(() => collector.close());
    folder = await makeDataDir();
    started.defer(() => folder.remove());
    env = {
      DATA_DIR: folder.path,
      LOG_LEVEL: 'debug',
      PORT: '0',
      DELIVERY_RETRY_SECONDS: '1,1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    };
    service = startCommand(['serve'], { env });
    started.defer(() => void service.child.kill('SIGKILL'));
    const [line] = await service.printed(/.*"event":"listening".*/);
    baseUrl = `http://127.0.0.1:${JSON.parse(line).port}/api/v1`;
    embedded = await openHere(folder.path);
    started.defer(() => embedded.release());
    keep('database password', new URL(embedded.url).password);
    keep('master key', (await readFile(join(folder.path, 'master.key'), 'utf8')).trim());
    owner = new pg.Client({ connectionString: embedded.url });
    await owner.connect();
    started.defer(() => owner.end());
  });
  after(() => started.disposeAsync());

  /** A command; what it prints is kept for the search, but for what it shows once on purpose. */
  async function command(args: string[], options: { stdin?: string; shows?: boolean } = {}): Promise<Json> {
    const { code, stdout, stderr } = await runProcess([...args, '--json'], {
      env,
      stdin: options.stdin ?? '',
    });
    written.set(`stderr of ${args.join(' ')}`, stderr);
    if (options.shows !== true) written.set(`stdout of ${args.join(' ')}`, stdout);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  }

  async function call(
    path: string,
    {
      token,
      headers = {},
      body,
      method,
    }: { token?: string; headers?: Record<string, string>; body?: unknown; method?: string } = {},
  ): Promise<Answer> {
    const response = await fetch(path.startsWith('http') ? path : baseUrl + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, json: parsed(text) };
  }

  const login = (credential: string, identity = ids.userId) =>
    call('/auth/login', { body: { identity, credential, userType: 'EHR' } });

  test('sets up, by commands', async () => {
    ids.organisation = (await command(['organisation', 'create', '--name', 'Logged Hospitals'])).id as string;
    const place = ['--organisation', ids.organisation];
    ids.facility = (await command(['facility', 'create', ...place, '--name', 'Ward'])).id as string;
    const all = Object.keys(PERMISSIONS).join(',');
    await command(['role', 'create', ...place, '--name', 'all', '--permissions', all]);
    const at = [...place, '--facility', ids.facility];
    const account = ['account', 'create', ...at, '--role', 'all', '--email'];
    ids.userId = (
      await command([...account, 'system@example.org', '--password-stdin'], { stdin: `${PASSWORDS.right}\n` })
    ).userId as string;
    keep('generated password', (await command([...account, 'b@example.org'], { shows: true })).password);
    const { setupLink } = await command([...account, 'c@example.org', '--setup-link'], { shows: true });
    ids.setupToken = keep('setup token', String(setupLink).split('#token=')[1]);
    const connection = await command(
      [
        'connection',
        'create',
        ...place,
        '--name',
        'hie',
        '--address',
        `${outside.url}/in`,
        '--client-id',
        'us',
      ],
      { shows: true },
    );
    ids.connection = connection.id;
    ids.callbackSecret = keep('callback secret', connection.callbackSecret);
    keep('outbound secret', connection.outboundSecret);
    await command(
      [
        'target',
        'create',
        '--name',
        'server',
        '--base',
        `${outside.url}/fhir`,
        '--auth',
        'bearer',
        '--secret-stdin',
        '--default',
      ],
      { stdin: `${TARGET_SECRET}\n` },
    );
  });

  test('imports, by command and over HTTP, good and bad', async () => {
    const file = join(folder.path, '..', 'bundle.json');
    const good = structuredClone(RECORDS);
    await writeFile(file, JSON.stringify(good));
    await command([
      'import',
      '--organisation',
      String(ids.organisation),
      '--facility',
      String(ids.facility),
      file,
    ]);
    const { token } = await session();
    const bad = structuredClone(RECORDS);
    Object.assign(bad.entry[0]?.resource ?? {}, { birthDate: PATIENT.family, gender: PATIENT.given });
    for (const body of [
      good,
      bad,
      JSON.stringify(structuredClone(RECORDS)).slice(0, -9),
      `{"${PATIENT.family}":`,
    ])
      await call('/imports/fhir', { token, body });
    await owner.query("alter table patient_identifier add constraint broken check (value = 'x') not valid");
    const refused = structuredClone(RECORDS);
    Object.assign(refused.entry[0]?.resource ?? {}, { id: randomUUID() });
    await call('/imports/fhir', { token, body: refused });
    await owner.query('alter table patient_identifier drop constraint broken');
  });

  /** A new session, its tokens kept for the search. */
  async function session(): Promise<{ token: string; refreshToken: string }> {
    const { status, json } = await login(PASSWORDS.right);
    assert.equal(status, 200);
    return {
      token: keepToken('access token', json.accessToken),
      refreshToken: keep('refresh token', json.refreshToken),
    };
  }

  test('signs in and out, in every way', async () => {
    await call('/auth/verify', { body: { email: 'system@example.org', userType: 'EHR' } });
    await call('/auth/verify', { body: { email: PASSWORDS.inIdentity, userType: 'EHR' } });
    assert.equal((await login(PASSWORDS.wrong)).status, 403);
    assert.equal((await login(PASSWORDS.wrong, PASSWORDS.inIdentity)).status, 403);
    const { token, refreshToken } = await session();
    for (const body of [
      {},
      { refreshToken: refreshToken.slice(1) },
      { refreshToken: [refreshToken] },
      `{"refreshToken":"${refreshToken}`,
    ])
      assert.ok((await call('/auth/refresh', { body })).status >= 400);
    const pair = await call('/auth/refresh', { body: { refreshToken } });
    assert.equal(pair.status, 200);
    keepToken('refreshed access token', pair.json.accessToken);
    keep('refreshed refresh token', pair.json.refreshToken);
    assert.equal((await call('/auth/refresh', { body: { refreshToken } })).text, pair.text);
    await owner.query(`update refresh_token
       set exchanged_at = (exchanged_at at time zone 'UTC' - interval '5 minutes') at time zone 'UTC'`);
    assert.equal((await call('/auth/refresh', { body: { refreshToken } })).status, 401);
    assert.equal((await call('/patients/base', { token })).status, 401);
    const second = await session();
    assert.equal((await call('/auth/logout', { method: 'POST', token: second.token })).status, 204);
    await call('/auth/password-setup', { body: { token: ids.setupToken, newCredential: PASSWORDS.next } });
    await call('/auth/password-setup', { body: { token: ids.setupToken, newCredential: PASSWORDS.next } });
    await call('/auth/password', {
      body: {
        identity: ids.userId,
        credential: PASSWORDS.wrong,
        userType: 'EHR',
        newCredential: PASSWORDS.next,
      },
    });
    for (let failure = 0; failure < 6; failure += 1)
      await login(PASSWORDS.wrong, randomUUID().replace(/./, 'f'));
  });

  /** A call of the console with the cookie of before; its next one is kept for the search. */
  async function atConsole(path: string, body: unknown, { cookie = '', method = 'POST' } = {}) {
    const url = new URL(`/console/api${path}`, baseUrl);
    const headers = { 'content-type': 'application/json', 'x-interchange-console': '1', cookie };
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    const set = response.headers.get('set-cookie')?.split(';')[0];
    const token = set?.split('=')[1] ?? '';
    if (token !== '') keep('cookie', token);
    return { status: response.status, text, json: parsed(text), cookie: set ?? cookie };
  }

  test('signs a person in at the console, with an app and with recovery codes', async () => {
    const at = ['--organisation', String(ids.organisation), '--facility', String(ids.facility)];
    const email = 'person@example.org';
    const create = ['account', 'create', ...at, '--role', 'all', '--type', 'STAFF', '--email', email];
    await command([...create, '--password-stdin'], { stdin: `${PASSWORDS.ofPerson}\n` });
    const password = PASSWORDS.ofPerson;
    assert.equal((await atConsole('/session', { email, password: PASSWORDS.wrong })).status, 403);
    assert.equal((await atConsole('/session', { email: PASSWORDS.inIdentity, password })).status, 403);
    const first = await atConsole('/session', { email, password });
    const begun = await atConsole('/second-factor/totp', { password }, first);
    const secret = keep('secret of the app', begun.json.secret);
    keep('bytes of the secret', Buffer.from(Secret.fromBase32(secret).bytes).toString('hex'));
    const code = codesOf({ clock: { now: new Date() } }, secret);
    const confirmed = await atConsole('/second-factor/totp/confirm', { code: code() }, first);
    assert.equal(confirmed.status, 200, confirmed.text);
    const { recoveryCodes } = confirmed.json as { recoveryCodes: string[] };
    const [used = '', wrongPlace = ''] = recoveryCodes;
    for (const recoveryCode of recoveryCodes) {
      keep('recovery code', recoveryCode);
      keep('recovery code without dashes', recoveryCode.replaceAll('-', ''));
    }
    for (const [way, proof, wrong] of [
      ['totp', code(1), wrongPlace],
      ['recovery-code', used, secret],
    ] as const) {
      const half = await atConsole('/session', { email, password });
      assert.equal(half.json.state, 'second-factor', half.text);
      assert.equal((await atConsole(`/session/${way}`, { code: wrong }, half)).status, 403);
      const whole = await atConsole(`/session/${way}`, { code: proof }, half);
      assert.equal(whole.status, 200, whole.text);
      assert.notEqual(whole.cookie, half.cookie);
    }
    const change = { password, newPassword: PASSWORDS.nextOfPerson };
    const changed = await atConsole('/session/password', change, confirmed);
    assert.equal(changed.status, 204, changed.text);
    assert.equal((await atConsole(`/${secret}/${used}`, change, changed)).status, 404);
    const end = await atConsole('/session', {}, { ...changed, method: 'DELETE' });
    assert.equal(end.status, 204, end.text);
  });

  test('reads, searches and is refused', async () => {
    const { token } = await session();
    const found = await call(`/patients/base?search=${PATIENT.family}`, { token });
    assert.equal(found.json.items?.length, 1, found.text);
    const patient = String(found.json.items?.[0]?.id);
    const name = encodeURIComponent(PATIENT.family);
    for (const search of [
      PATIENT.given,
      PATIENT.identifier,
      PATIENT.phone,
      PATIENT.email,
      `${PATIENT.family}%`,
    ])
      await call(`/patients/base?search=${encodeURIComponent(search)}`, { token });
    const paths = [
      `/patients/base/${patient}`,
      `/patients/base/${patient}/clinical/fhir?purposeOfUse=${name}`,
      `/patients/base/${patient}/access-log?action=${name}`,
      `/patients/base/${name}`,
      `/encounters/fhir/Encounter?patient=${patient}&purposeOfUse=TREATMENT`,
      `/encounters/fhir/Encounter?patient=${name}&purposeOfUse=TREATMENT`,
      `/encounters/fhir/Encounter?patient=${patient}&purposeOfUse=TREATMENT&status=${name}`,
      `/encounters/fhir/Encounter?patient=${patient}&purposeOfUse=TREATMENT&cursor=${name}`,
      `/encounters/fhir/Encounter/${name}?purposeOfUse=OPS`,
      `/${name}/${PASSWORDS.wrong}?${name}=${name}`,
      `/patients/base?${name}=%ff`,
      `/investigations/lab/orders?patient=${patient}`,
      `/terminology/maps?search=${name}`,
    ];
    for (const path of paths) {
      await call(path, { token });
      await call(path, { token, headers: { prefer: 'handling=strict', 'x-facility-id': PATIENT.family } });
      await call(path, {
        token: PASSWORDS.wrong,
        headers: { 'x-correlation-id': `${PATIENT.family} ${token}` },
      });
    }
    await call('/encounters/fhir/Encounter/_search', {
      token,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `patient=${patient}&purposeOfUse=TREATMENT&status=${name}`,
    });
    await call(`/patients/base/${patient}/privacy`, {
      token,
      method: 'PUT',
      body: { refusedPurposes: ['RESEARCH'] },
    });
    assert.equal((await call(`/patients/base/${patient}?purposeOfUse=RESEARCH`, { token })).status, 403);
    ids.patient = patient;
  });

  test('publishes and delivers to servers that refuse and repeat what they were sent', async () => {
    const { token } = await session();
    const orders = await call(`/investigations/lab/orders?patient=${ids.patient}`, { token });
    const order = orders.json.items?.[0]?.orderId ?? orders.json.items?.[0]?.id;
    assert.ok(order, orders.text);
    const published = await call(`/investigations/lab/orders/${order}/clinical/publish-fhir`, {
      token,
      method: 'POST',
    });
    assert.ok(published.status >= 400, published.text);
    await waitUntil(() => outside.received >= 2, 'something was sent out');
    const callback = `/exchange/connections/${ids.connection}/callback`;
    const body = JSON.stringify({
      deliveryId: randomUUID(),
      status: 'accepted',
      assignedId: PATIENT.identifier,
      message: PATIENT.family,
    });
    const signature = createHmac('sha256', String(ids.callbackSecret)).update(body).digest('hex');
    keep('callback signature', signature);
    for (const value of ['', signature.replace(/./, 'x'), signature, `sha256=${signature}`])
      await call(callback, { body, headers: { 'x-signature': value } });
  });

  test('fails, when the database refuses what must not be refused', async () => {
    const { token } = await session();
    await owner.query('alter table patient_name rename column family to family_gone');
    const { status, text } = await call(`/patients/base?search=${PATIENT.family}`, { token });
    await owner.query('alter table patient_name rename column family_gone to family');
    assert.equal(status, 500, text);
    assert.doesNotMatch(text, /family|column|select/);
  });

  test('left no password, token, setup link or secret readable in the database [SIGN-IN-45, SEC-13]', async () => {
    const contents = await readTables();
    const placesOf = (secret: string) => {
      const bytes = Buffer.from(secret);
      const forms = [secret, bytes.toString('hex'), bytes.toString('base64')].map((form) =>
        form.toLowerCase(),
      );
      return [...contents]
        .filter(([, text]) => forms.some((form) => text.includes(form)))
        .map(([name]) => name);
    };
    assert.ok(placesOf(PATIENT.family).includes('patient_name'), 'the search finds what is there');
    const patient = new Set<string>(Object.values(PATIENT));
    const readable = [...secrets]
      .filter(([secret]) => !patient.has(secret))
      .map(([secret, name]) => [name, placesOf(secret)] as const)
      .filter(([, places]) => places.length > 0);
    assert.deepEqual(readable, []);
  });

  /** Every table of the service as text, in lower case. */
  async function readTables(): Promise<Map<string, string>> {
    const { rows } = await owner.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    const contents = new Map<string, string>();
    for (const { name } of rows) {
      const { rows: lines } = await owner.query<{ line: string }>(`select t::text as line from ${name} t`);
      contents.set(name, lines.map(({ line }) => line.toLowerCase()).join('\n'));
    }
    return contents;
  }

  function leaksIn(where: string, text: string): string[] {
    return [...secrets].flatMap(([secret, name]) =>
      [...formsOf(secret)]
        .filter((form) => text.toLowerCase().includes(form))
        .map((form) => `${name} in ${where}: ${around(text, form)}`),
    );
  }

  test('left none of its secrets and patients in any log or trace [SEC-23, OPS-37]', async () => {
    service.child.kill('SIGTERM');
    const { code, stdout, stderr } = await service.ended;
    assert.equal(code, 0, stderr);
    written.set('stdout of the service', stdout);
    written.set('stderr of the service', stderr);
    for (const name of await readdir(join(folder.path, 'postgresql')))
      if (/\.log/.test(name))
        written.set(name, await readFile(join(folder.path, 'postgresql', name), 'utf8'));

    written.set('traces', collector.bodies.join('\n'));

    // The flows did run, were logged and traced.
    for (const name of ['import unit', 'publish', 'delivery try'])
      assert.ok(
        collector.spans.some((span) => span.name === name),
        name,
      );
    const sent = collector.spans.filter(({ attributes }) => 'server.address' in attributes);
    assert.deepEqual([...new Set(sent.map(({ name }) => name))].toSorted(), ['POST', 'PUT']);
    const patient = ids.patient ?? '';
    assert.ok(!written.get('traces')?.includes(patient), 'ids of patients are in no trace');
    for (const event of [
      'sign-in.succeeded',
      'sign-in.failed',
      'sign-in.refresh-token-reused',
      'sign-in.logged-out',
      'sign-in.second-factor-asked',
      'sign-in.second-factor-added',
      'sign-in.second-factor-failed',
      'sign-in.recovery-code-used',
    ])
      assert.match(stdout, new RegExp(`"event":"${event}"`));
    assert.match(stdout, /"msg":"unexpected error"/);
    assert.match(stdout, /"msg":"request answered"/);
    assert.match(stdout, /"msg":"request refused"/);
    assert.ok(
      [...written.keys()].some((name) => name.startsWith('server.log')),
      'the log of PostgreSQL',
    );

    const leaks = [...written].flatMap(([where, text]) => leaksIn(where, text));
    assert.deepEqual(leaks, []);
  });
});

/** How a text may have been written: as it is, in an address, in JSON, its digits. */
function formsOf(secret: string): Set<string> {
  const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
  if (/^[\d\s()+-]+$/.test(secret)) forms.push(secret.replace(/\D/g, ''));
  return new Set(forms.map((form) => form.toLowerCase()));
}

function around(text: string, found: string): string {
  const at = text.toLowerCase().indexOf(found);
  return text.slice(Math.max(0, at - 200), at + found.length + 20);
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {} as Json;
  }
}

/** An exchange and FHIR server that takes nothing and repeats what it was sent. */
async function startOutside() {
  const outside = { received: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    outside.received += 1;
    response.writeHead(422, {
      'content-type': 'application/json',
      'x-echo': String(request.headers.authorization ?? ''),
    });
    response.end(
      JSON.stringify({
        resourceType: 'OperationOutcome',
        issue: [{ severity: 'error', code: 'invalid', diagnostics: Buffer.concat(chunks).toString() }],
        patient: PATIENT,
      }),
    );
  });
  const url = `http://127.0.0.1:${await listenHere(server)}`;
  return Object.assign(outside, { server, url });
}
