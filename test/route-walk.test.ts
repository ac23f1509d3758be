/**
 * Walks every registered route as someone else: of another organisation, of another facility, without a right,
 * without a token. A new route is in the walk by being registered (and section 4).
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Access, FacilityAccess } from '../src/tenancy/callers/access.ts';
import { MODULES } from '../src/tenancy/organisations/modules.ts';
import { PERMISSIONS } from '../src/tenancy/roles/permissions.ts';
import { createAnswerCheck } from '../test-support/http/documented-answers.ts';
import {
  addressOf,
  namesRecord,
  pathParameters,
  querySchema,
  type RegisteredRoute,
  type SampleRequest,
  sampleRequest,
  seedOf,
} from '../test-support/http/route-requests.ts';
import { MARKS, type SeededRecords, seedRecords } from '../test-support/records/seed-tenant.ts';
import { type Answer, type TestAccount, useEmptyApi } from '../test-support/service/api.ts';

/** Routes that name a record, and which no privacy setting closes; each with its reason. */
const NOT_PRIVATE: Readonly<Record<string, string>> = {
  // Of one patient, by patientId, they are: test/exchange-review.test.ts.
  replayDeliveries:
    'By id, what is held is decided on whomever it concerns, and names nobody (docs/adr/0053).',
  skipDeliveries: 'By id, what is held is decided on whomever it concerns, and names nobody (docs/adr/0053).',
};

/**
 * Accounts, roles and facilities are of the organisation, and not of the facility of the call. Whom an administrator sees
 * and manages is in src/sign-in/administration and src/tenancy.
 */
const OF_ORGANISATION = /^\/api\/v1\/(accounts|roles|facilities)\b/;

/** Statuses that a rightful caller of a route that writes may meet on the seeded records. */
const UNDERSTOOD = new Set([200, 201, 202, 204, 304, 409, 422, 502, 503]);

interface Changes {
  token?: string | undefined;
  seeds?: SeededRecords;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
}

const api = await useEmptyApi();
/** Every answer of the walk is one that the OpenAPI document has. */
const isDocumented = createAnswerCheck((await api.call('/docs/json')).json);
const here = await api.createTenant();
const elsewhere = { ...here, facilityId: await api.createFacility(here.organisationId) };
const other = await api.createTenant();
const db = api.database.pool;
const seeds = await seedRecords(db, here);
const refusing = await seedRecords(db, here, { refusedPurposes: ['TREATMENT', 'RESEARCH'] });
const foreign = await seedRecords(db, other);
const rightful = await api.createAccount(here);

describe('every registered route', () => {
  const routes = () => api.api.routes;
  const ofKind = (kind: Access['kind']) => routes().filter(({ route }) => route.access.kind === kind);
  const onRecords = () => ofKind('facility').filter((entry) => namesRecord(entry, seeds));

  /** Calls each route in turn; a failure says which one. */
  async function walk(entries: RegisteredRoute[], visit: (entry: RegisteredRoute) => Promise<void>) {
    assert.ok(entries.length > 0, 'there is something to walk');
    const failures: string[] = [];
    for (const entry of entries)
      await visit(entry).catch((error: Error) =>
        failures.push(`${entry.method} ${entry.path}: ${error.message}`),
      );
    assert.deepEqual(failures, []);
  }

  async function call(entry: RegisteredRoute, changes: Changes): Promise<Answer> {
    const sample = withChanges(entry, sampleRequest(entry, changes.seeds ?? seeds), changes);
    const answer = await api.call(api.origin + addressOf(sample), {
      method: sample.method,
      headers: { ...sample.headers, ...changes.headers },
      ...(changes.token === undefined ? {} : { token: changes.token }),
      ...(sample.body === undefined ? {} : { body: sample.body }),
    });
    const { status, headers, text: body } = answer;
    isDocumented(entry, { status, headers: Object.fromEntries(headers), body });
    return answer;
  }

  test('has a seed for each of its path parameters [SEC-20]', () => {
    const missing = routes().flatMap((entry) =>
      pathParameters(entry)
        .filter((name) => seedOf(entry, name, seeds) === undefined)
        .map(
          (name) =>
            `${entry.path}: add a seed for :${name} to PATH_SEEDS in test-support/http/route-requests.ts`,
        ),
    );
    assert.deepEqual(missing, []);
  });

  test('answers its rightful caller, so that the refusals below mean something [HTTP-26]', async () => {
    await walk(routes(), async (entry) => {
      const account = entry.route.access.kind === 'session' ? await api.createAccount(here) : rightful;
      const answer = await call(entry, { token: account.token });
      const advice = `${answer.status} ${answer.text}; if the sample is at fault add to BODIES or VALUES in test-support/http/route-requests.ts`;
      if (entry.route.access.kind === 'open') assert.ok(answer.status < 500, advice);
      else if (entry.method === 'GET') assert.ok(answer.status < 400, advice);
      else assert.ok(UNDERSTOOD.has(answer.status), advice);
    });
  });

  test('answers 404 to another organisation that names its records [ACC-2, SEC-19]', async () => {
    const stranger = await api.createAccount(other);
    await walk(onRecords(), async (entry) => {
      isError(await call(entry, { token: stranger.token }), 404);
    });
  });

  test('answers 404 to another facility of the same organisation [ACC-3]', async () => {
    const neighbour = await api.createAccount(elsewhere);
    const both = await api.createAccount(here, {
      facilityIds: [here.facilityId, elsewhere.facilityId],
    });
    const ofFacility = onRecords().filter(({ path }) => !OF_ORGANISATION.test(path));
    await walk(ofFacility, async (entry) => {
      isError(await call(entry, { token: neighbour.token }), 404);
      const headers = { 'x-facility-id': elsewhere.facilityId };
      isError(await call(entry, { token: both.token, headers }), 404);
    });
  });

  test('answers 404 to an own patient named with a record of someone else, and the other way round [ACC-4]', async () => {
    await walk(onRecords(), async (entry) => {
      for (const name of pathParameters(entry)) {
        const mixed = { ...seeds, [keyOfSeed(entry, name, seeds)]: seedOf(entry, name, foreign) };
        isError(await call(entry, { token: rightful.token, seeds: mixed }), 404);
      }
    });
  });

  test('shows nothing of its records to anyone else, by whatever route [ACC-2, SEC-19]', async () => {
    const strangers = [await api.createAccount(other), await api.createAccount(elsewhere)];
    const secrets = [...Object.values(MARKS), ...Object.values(seeds), ...Object.values(refusing)];
    await walk(ofKind('facility'), async (entry) => {
      for (const [index, { token }] of strangers.entries()) {
        const hidden = index === 1 && isOrganisationWide(entry) ? [] : secrets;
        // The records of another organisation have the same names, on purpose; ids are what tells.
        const own = index === 0 ? new Set<string>(Object.values(MARKS)) : new Set<string>();
        const { text } = await call(entry, { token, seeds: foreign });
        for (const secret of hidden) assert.ok(own.has(secret) || !text.includes(secret), secret);
      }
    });
  });

  test('answers 403 to headers of an organisation or facility that the account may not use [ACC-8]', async () => {
    const stranger = await api.createAccount(other);
    const neighbour = await api.createAccount(elsewhere);
    const headers = [
      { token: stranger.token, headers: { 'x-org-id': here.organisationId } },
      { token: stranger.token, headers: { 'x-facility-id': here.facilityId } },
      {
        token: stranger.token,
        headers: { 'x-org-id': here.organisationId, 'x-facility-id': here.facilityId },
      },
      { token: neighbour.token, headers: { 'x-facility-id': here.facilityId } },
      { token: rightful.token, headers: { 'x-org-id': other.organisationId } },
      { token: rightful.token, headers: { 'x-facility-id': randomUUID() } },
      { token: rightful.token, headers: { 'x-org-id': randomUUID() } },
    ];
    await walk(ofKind('facility'), async (entry) => {
      const messages = new Set<string>();
      for (const changes of headers) messages.add(isError(await call(entry, changes), 403).message);
      assert.equal(messages.size, 1, 'one message, whether it exists or not');
    });
  });

  test('answers 401 without a good token [ACC-13, HTTP-2]', async () => {
    const expired = await api.createAccount(here);
    const gone = await api.createAccount(here);
    await api.call('/auth/logout', { method: 'POST', token: gone.token });
    await walk([...ofKind('facility'), ...ofKind('session')], async (entry) => {
      const tokens = [undefined, 'nonsense', `${rightful.token}x`, unsigned(rightful.token), gone.token];
      for (const token of tokens) {
        const answer = await call(entry, { token });
        isError(answer, 401);
        const challenge = token === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
        assert.equal(answer.headers.get('www-authenticate'), challenge);
      }
    });
    const { now } = api.clock;
    api.clock.now = new Date(now.getTime() + 16 * 60_000);
    try {
      await walk([...ofKind('facility'), ...ofKind('session')], async (entry) => {
        isError(await call(entry, { token: expired.token }), 401);
      });
    } finally {
      api.clock.now = now;
    }
  });

  test('takes open routes with any token or none', async () => {
    await walk(ofKind('open'), async (entry) => {
      const statuses = new Set<number>();
      for (const token of [undefined, 'nonsense', rightful.token])
        statuses.add((await call(entry, { token })).status);
      assert.equal(statuses.size, 1, [...statuses].join(' '));
    });
  });

  test('opens nothing but session routes to an account that must change its password [SIGN-IN-39]', async () => {
    const flagged = await api.createAccount(here, { mustChangePassword: true });
    await walk(ofKind('facility'), async (entry) => {
      assert.match(isError(await call(entry, { token: flagged.token }), 403).message, /change its password/);
    });
    await walk(ofKind('session'), async (entry) => {
      const { token } = await api.createAccount(here, { mustChangePassword: true });
      const { status } = await call(entry, { token });
      assert.ok(status < 400, String(status));
    });
  });

  test('answers 403 without its permission, and takes each of those that it names alone [ACC-10, ENC-30, PUB-2, PUB-3]', async () => {
    const none = await api.createAccount(here, { permissions: [] });
    await walk(ofKind('facility'), async (entry) => {
      const { permissions } = facilityAccess(entry);
      const others = Object.keys(PERMISSIONS).filter((name) => !permissions.includes(name as never));
      const wrong = await api.createAccount(here, { permissions: others });
      for (const { token } of [none, wrong])
        assert.match(isError(await call(entry, { token }), 403).message, /permission/);
      for (const permission of permissions) {
        // Of both facilities: what is for the whole organisation needs them, or a second permission.
        const facilityIds = [here.facilityId, elsewhere.facilityId];
        const { token } = await api.createAccount(here, { permissions: [permission], facilityIds });
        const { status, text } = await call(entry, { token });
        assert.ok(status !== 401 && (status !== 403 || !/permission/.test(text)), `${status} ${text}`);
      }
    });
  });

  test('answers 403 where one of its modules is off [ACC-11, ACC-12, PUB-4]', async () => {
    const without = new Map<string, TestAccount>();
    for (const module of MODULES) {
      const tenant = await api.createTenant({ modules: MODULES.filter((name) => name !== module) });
      without.set(module, await api.createAccount(tenant));
    }
    await walk(ofKind('facility'), async (entry) => {
      const access = facilityAccess(entry);
      for (const module of [access.module ?? [], access.alsoModules ?? []].flat()) {
        const answer = await call(entry, { token: without.get(module)?.token });
        assert.match(isError(answer, 403).message, new RegExp(`module ${module}`));
      }
    });
  });

  test('answers 400 to malformed tenancy headers, and where no facility is named [ACC-7, ACC-9]', async () => {
    const homeless = await api.createAccount(here);
    await api.database.pool.query(
      'update account set default_facility_id = null where organisation_id = $1 and id = $2',
      [here.organisationId, homeless.userId],
    );
    await walk(ofKind('facility'), async (entry) => {
      for (const name of ['x-org-id', 'x-facility-id'])
        for (const value of ['', 'nonsense', `${here.facilityId} `, `{${here.facilityId}}`, "1' or '1'='1"]) {
          // fetch trims a value; an id with a space behind it arrives without.
          if (value !== value.trim()) continue;
          const answer = await call(entry, { token: rightful.token, headers: { [name]: value } });
          assert.match(isError(answer, 400).message, new RegExp(name));
        }
      assert.match(isError(await call(entry, { token: homeless.token }), 400).message, /x-facility-id/);
      const headers = { 'x-facility-id': here.facilityId.toUpperCase() };
      const named = await call(entry, { token: homeless.token, headers });
      assert.ok(![400, 401, 403].includes(named.status), `${named.status} ${named.text}`);
    });
  });

  test('makes its checks in their order [ACC-14]', async () => {
    const bare = await api.createTenant({ modules: [] });
    const bad = { 'x-facility-id': 'nonsense', prefer: 'handling=strict' };
    const strict = { prefer: 'handling=strict' };
    const unknown = { 'no-such-parameter': '1' };
    const flagged = await api.createAccount(bare, { permissions: [], mustChangePassword: true });
    const powerless = await api.createAccount(bare, { permissions: [] });
    const moduleless = await api.createAccount(bare);
    await walk(ofKind('facility'), async (entry) => {
      const at = async (token: string | undefined, headers: Record<string, string>) =>
        call(entry, { token, headers, query: unknown });
      isError(await at(undefined, bad), 401);
      assert.match(isError(await at(flagged.token, bad), 403).message, /password/);
      assert.match(isError(await at(powerless.token, bad), 400).message, /x-facility-id/);
      const foreignHeader = { ...strict, 'x-facility-id': here.facilityId };
      assert.match(isError(await at(powerless.token, foreignHeader), 403).message, /x-facility-id/);
      assert.match(isError(await at(powerless.token, strict), 403).message, /permission/);
      if (facilityAccess(entry).module !== undefined)
        assert.match(isError(await at(moduleless.token, strict), 403).message, /module/);
    });
  });

  test('checks parameters before it looks for the record [ACC-14]', async () => {
    const unknown = unknownRecords(seeds);
    await walk(onRecords(), async (entry) => {
      const headers = { prefer: 'handling=strict' };
      const query = { 'no-such-parameter': '1' };
      isError(await call(entry, { token: rightful.token, seeds: unknown, headers, query }), 400);
      if (querySchema(entry).purposeOfUse !== undefined)
        isError(
          await call(entry, { token: rightful.token, seeds: unknown, query: { purposeOfUse: 'NONE' } }),
          400,
        );
      isError(await call(entry, { token: rightful.token, seeds: unknown }), 404);
    });
  });

  test('answers a malformed id like an unknown one [HTTP-9]', async () => {
    const unknown = unknownRecords(seeds);
    await walk(onRecords(), async (entry) => {
      const { message } = isError(await call(entry, { token: rightful.token, seeds: unknown }), 404);
      for (const id of [
        '1',
        'nonsense',
        `${seeds.patientId}0`,
        "1'--",
        '%20',
        '..%2f..',
        'a'.repeat(7_000),
      ]) {
        const malformed = Object.fromEntries(Object.keys(seeds).map((name) => [name, id]));
        const answer = await call(entry, { token: rightful.token, seeds: malformed as never });
        // A malformed `patient` is a parameter: 400 or 404.
        const statuses = pathParameters(entry).length > 0 ? [404] : [400, 404];
        assert.ok(statuses.includes(answer.status), `${answer.status} for ${id}`);
        if (answer.status === 404) assert.equal(answer.json.message, message);
      }
    });
  });

  test('answers 403 where the patient refuses the purpose, and 404 first where the record is not in scope [LOG-4]', async () => {
    const neighbour = await api.createAccount(elsewhere);
    const stranger = await api.createAccount(other);
    await walk(onRecords(), async (entry) => {
      if (querySchema(entry).purposeOfUse === undefined) return;
      if (NOT_PRIVATE[entry.route.docs.operationId] !== undefined) return;
      for (const purposeOfUse of ['TREATMENT', 'RESEARCH']) {
        const query = { purposeOfUse };
        const refused = await call(entry, { token: rightful.token, seeds: refusing, query });
        assert.match(isError(refused, 403).message, /privacy/);
        isError(await call(entry, { token: stranger.token, seeds: refusing, query }), 404);
        isError(await call(entry, { token: neighbour.token, seeds: refusing, query }), 404);
      }
      const allowed = await call(entry, {
        token: rightful.token,
        seeds: refusing,
        query: { purposeOfUse: 'OPS' },
      });
      assert.notEqual(allowed.status, 403, allowed.text);
    });
  });

  test('leaves patients who refuse the purpose out of lists of patients [PAT-5]', async () => {
    await walk(
      ofKind('facility').filter((entry) => !namesRecord(entry, seeds) && !isOrganisationWide(entry)),
      async (entry) => {
        const { text } = await call(entry, { token: rightful.token, query: { purposeOfUse: 'RESEARCH' } });
        assert.ok(!text.includes(refusing.patientId));
      },
    );
  });
});

/** The error shape, exactly. */
function isError(answer: Answer, status: number): { message: string } {
  assert.equal(answer.status, status, `${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`);
  assert.deepEqual(Object.keys(answer.json), ['statusCode', 'message', 'error']);
  assert.equal(answer.json.statusCode, status);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  return answer.json;
}

function facilityAccess({ route }: RegisteredRoute): FacilityAccess {
  assert.equal(route.access.kind, 'facility');
  return route.access as FacilityAccess;
}

/** Set-up and review, which may be of the whole organisation, and which show no patient data. */
function isOrganisationWide({ route }: RegisteredRoute): boolean {
  return route.access.kind === 'facility' && route.access.purposeOfUse === 'none';
}

function unknownRecords(seeds: SeededRecords): SeededRecords {
  return Object.fromEntries(Object.keys(seeds).map((name) => [name, randomUUID()])) as never;
}

function keyOfSeed(entry: RegisteredRoute, parameter: string, seeds: SeededRecords): string {
  const value = seedOf(entry, parameter, seeds);
  return Object.entries(seeds).find(([, id]) => id === value)?.[0] ?? '';
}

/** Query parameters of a form go into its body. */
function withChanges(entry: RegisteredRoute, sample: SampleRequest, { query, body }: Changes): SampleRequest {
  if (body !== undefined) return { ...sample, body };
  if (query === undefined) return sample;
  if (entry.route.schemas.bodyMode !== 'form') return { ...sample, query: { ...sample.query, ...query } };
  const form = new URLSearchParams(sample.body);
  for (const [name, value] of Object.entries(query)) form.set(name, value);
  return { ...sample, body: form.toString() };
}

/** The same claims with `alg: none`. */
function unsigned(token: string): string {
  const header = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
  return `${header}.${token.split('.')[1]}.`;
}
