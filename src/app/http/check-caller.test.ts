import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { answered } from '../../../test-support/service/worded-errors.ts';
import type { FacilityAccess } from '../../tenancy/callers/access.ts';
import type { Caller, FacilityGrant } from '../../tenancy/callers/caller.ts';
import type { CallerEntry } from '../../tenancy/callers/caller-directory.ts';
import { createCallerCheck } from './check-caller.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const ACCESS: FacilityAccess = {
  kind: 'facility',
  permissions: ['encounters.access'],
  module: 'encounters',
  purposeOfUse: 'required',
};
const [organisationId, first, second] = [randomUUID(), randomUUID(), randomUUID()];
const HEADERS = { authorization: 'Bearer abc.def.ghi' };
const GRANT: FacilityGrant = { modules: new Set(['encounters']), timeZone: 'UTC' };

function caller(changes: Partial<Caller> = {}): Caller {
  return {
    accountId: randomUUID(),
    sessionId: randomUUID(),
    organisationId,
    userType: 'EHR',
    mustChangePassword: false,
    requiresPasswordSetup: false,
    permissions: new Set(['encounters.access']),
    defaultFacilityId: first,
    facilities: new Map([[first, GRANT]]),
    ...changes,
  };
}

/** A node that knows `stale`, while the truth, once heard of, is `truth`. */
function nodeThatIsBehind(stale: Caller, truth: Caller | undefined) {
  let known: CallerEntry | undefined = { caller: stale, current: true };
  let heard = 0;
  const deps = {
    verifyAccessToken: async () => ({ accountId: stale.accountId, sessionId: stale.sessionId }),
    callers: { find: async () => known },
    passwordPage: 'https://records.example.org/console/change-password',
    changes: {
      mark: () => 7,
      receivedUntil: async (mark: number) => {
        assert.equal(mark, 7);
        heard += 1;
        if (known?.caller !== stale) return;
        known.current = false;
        known = truth && { caller: truth, current: true };
      },
    },
  };
  return { deps, heard: () => heard };
}

test('a read is checked at once and confirmed before its answer leaves [ACC-19]', async () => {
  const { deps, heard } = nodeThatIsBehind(caller(), undefined);
  const { check, confirm } = createCallerCheck(deps, ACCESS, true);
  const checked = await check(HEADERS, NOW);
  assert.equal(heard(), 0);
  await assert.rejects(confirm(checked, HEADERS, NOW), { code: 'session_ended' });
});

test('the answer of a read waits for what was committed while its body was on its way [ACC-18]', async () => {
  let sent = 1;
  const waitedFor: number[] = [];
  const { deps } = nodeThatIsBehind(caller(), caller());
  const changes = {
    mark: () => sent,
    receivedUntil: async (mark: number) => void waitedFor.push(mark),
  };
  const { check, admit, confirm } = createCallerCheck({ ...deps, changes }, ACCESS, true);
  const checked = await check(HEADERS, NOW);
  sent = 2;
  await confirm(await admit(checked, HEADERS, NOW), HEADERS, NOW);
  assert.deepEqual(waitedFor, [2]);
});

test('a call that is no read hears of everything before it is admitted [ACC-18]', async () => {
  const { deps } = nodeThatIsBehind(caller(), undefined);
  const { check, admit } = createCallerCheck(deps, ACCESS, false);
  const checked = await check(HEADERS, NOW);
  await assert.rejects(admit(checked, HEADERS, NOW), { code: 'session_ended' });
});

test('a refusal never comes from what was granted a moment ago', async () => {
  const refusals: Caller[] = [
    caller({ permissions: new Set() }),
    caller({ mustChangePassword: true }),
    caller({ facilities: new Map() }),
    caller({ facilities: new Map([[first, { ...GRANT, modules: new Set() }]]) }),
    caller({ defaultFacilityId: null }),
  ];
  for (const stale of refusals) {
    const { deps } = nodeThatIsBehind(stale, caller());
    const { scope } = await createCallerCheck(deps, ACCESS, true).check(HEADERS, NOW);
    assert.equal(scope?.facilityId, first);
  }
});

test('what is really refused stays refused', async () => {
  const { deps } = nodeThatIsBehind(caller(), caller({ permissions: new Set() }));
  const { check, confirm } = createCallerCheck(deps, ACCESS, true);
  await assert.rejects(
    answered(async () => confirm(await check(HEADERS, NOW), HEADERS, NOW)),
    {
      statusCode: 403,
      code: 'permission_missing',
    },
  );
});

test('a call that now means another facility is to be answered anew, for that one', async () => {
  const moved = caller({ defaultFacilityId: second, facilities: new Map([[second, GRANT]]) });
  const { deps } = nodeThatIsBehind(caller(), moved);
  const { check, confirm } = createCallerCheck(deps, ACCESS, true);
  const renewed = await confirm(await check(HEADERS, NOW), HEADERS, NOW);
  assert.equal(renewed?.scope?.facilityId, second);
});

test('a call of a caller who has other rights now is to be answered anew, with these [ACC-16]', async () => {
  const rights = [
    caller({ permissions: new Set(['encounters.access', 'investigations.lab.list']) }),
    caller({ facilities: new Map([[first, { ...GRANT, modules: new Set(['encounters', 'lab']) }]]) }),
  ];
  for (const more of rights)
    for (const [stale, truth] of [
      [more, caller()],
      [caller(), more],
    ] as const) {
      const { deps } = nodeThatIsBehind(stale, truth);
      const { check, confirm } = createCallerCheck(deps, ACCESS, true);
      const renewed = await confirm(await check(HEADERS, NOW), HEADERS, NOW);
      assert.equal(renewed?.entry.caller, truth);
    }
});

test('a change that leaves scope and rights as they were does not have the call answered anew', async () => {
  const { deps } = nodeThatIsBehind(caller(), caller());
  const { check, confirm } = createCallerCheck(deps, ACCESS, true);
  assert.equal(await confirm(await check(HEADERS, NOW), HEADERS, NOW), undefined);
});

test('only one well-formed bearer token is taken [SIGN-IN-23]', async () => {
  const { deps } = nodeThatIsBehind(caller(), caller());
  const { check } = createCallerCheck(deps, { kind: 'session' }, false);
  await assert.rejects(check({}, NOW), {
    statusCode: 401,
    code: 'token_missing',
    message: 'The access token is missing. Send the header Authorization: Bearer <accessToken>.',
  });
  for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', 'Bearer ä', 'Bearera'])
    await assert.rejects(check({ authorization }, NOW), {
      statusCode: 401,
      code: 'token_missing',
      message:
        'The header Authorization holds no access token. Send it in this form: Authorization: Bearer <accessToken>.',
    });
  await assert.rejects(check({ authorization: ['Bearer a', 'Bearer b'] }, NOW), { statusCode: 401 });
  await check({ authorization: 'bearer abc' }, NOW);
});
