import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { answered } from '../../../test-support/service/worded-errors.ts';
import type { FacilityAccess } from './access.ts';
import type { Caller } from './caller.ts';
import { checkGrants, checkPasswordFlags, resolveScope } from './check-access.ts';

const [organisationId, first, second, elsewhere] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
const CALLER: Caller = {
  accountId: randomUUID(),
  sessionId: randomUUID(),
  organisationId,
  userType: 'EHR',
  mustChangePassword: false,
  requiresPasswordSetup: false,
  permissions: new Set(['encounters.access', 'patients.patients.list']),
  defaultFacilityId: first,
  facilities: new Map([
    [first, { modules: new Set(['encounters']), timeZone: 'Africa/Lagos' }],
    [second, { modules: new Set(['patients']), timeZone: 'UTC' }],
  ]),
};
const ACCESS: FacilityAccess = {
  kind: 'facility',
  permissions: ['encounters.access', 'encounters.fhir.encounter.read'],
  module: 'encounters',
  purposeOfUse: 'required',
};

describe('resolveScope', () => {
  test('takes the defaults of the profile [SIGN-IN-1, ACC-6]', () => {
    assert.deepEqual(resolveScope(CALLER, {}), {
      organisationId,
      facilityId: first,
      timeZone: 'Africa/Lagos',
    });
  });

  test('takes the headers, in either case, with the zone of the facility [ACC-5]', () => {
    for (const id of [second, second.toUpperCase()])
      assert.deepEqual(
        resolveScope(CALLER, { 'x-org-id': organisationId.toUpperCase(), 'x-facility-id': id }),
        {
          organisationId,
          facilityId: second,
          timeZone: 'UTC',
        },
      );
  });

  test('answers 400 to a header that is no UUID, or is there twice [ACC-7]', () => {
    const malformed = ['', 'x', `${first}, ${first}`, `${first}0`, first.replaceAll('-', ''), [first, first]];
    for (const name of ['x-org-id', 'x-facility-id'])
      for (const value of malformed)
        assert.throws(() => answered(() => resolveScope(CALLER, { [name]: value })), {
          statusCode: 400,
          code: 'malformed_header',
          message:
            Array.isArray(value) || value.includes(',')
              ? `The header ${name} was sent more than once, or with more than one value. Send it once, with one UUID.`
              : `The header ${name} must be a single UUID. Send the id as it was given to you.`,
        });
  });

  test('answers 403, with one message, to all that the account may not use [ACC-8]', () => {
    const messages = [
      { 'x-facility-id': elsewhere },
      { 'x-org-id': elsewhere },
      { 'x-org-id': elsewhere, 'x-facility-id': first },
      { 'x-org-id': organisationId, 'x-facility-id': randomUUID() },
    ].map((headers) => {
      try {
        return assert.fail(String(answered(() => resolveScope(CALLER, headers))));
      } catch (error) {
        assert.equal((error as { statusCode?: number }).statusCode, 403);
        return (error as Error).message;
      }
    });
    assert.equal(new Set(messages).size, 1);
  });

  test('answers 400 where neither header nor profile names a facility, and 403 where the profile names one that was withdrawn [ACC-9]', () => {
    const homeless = { ...CALLER, defaultFacilityId: null };
    assert.throws(() => answered(() => resolveScope(homeless, {})), {
      statusCode: 400,
      code: 'facility_missing',
    });
    assert.equal(resolveScope(homeless, { 'x-facility-id': second }).facilityId, second);
    assert.throws(() => answered(() => resolveScope({ ...CALLER, defaultFacilityId: elsewhere }, {})), {
      statusCode: 403,
    });
  });
});

describe('checkGrants', () => {
  const scope = (facilityId: string) => ({ organisationId, facilityId, timeZone: 'UTC' });
  const withPermissions = (...permissions: string[]) => ({ ...CALLER, permissions: new Set(permissions) });

  test('takes any one of the permissions [ACC-10]', () => {
    for (const permission of ACCESS.permissions)
      checkGrants(withPermissions(permission), scope(first), ACCESS);
  });

  test('answers 403 without, naming them, before it looks at the module [ACC-10]', () => {
    for (const permissions of [[], ['encounters'], ['encounters.access.more'], ['ENCOUNTERS.ACCESS']])
      assert.throws(
        () => answered(() => checkGrants(withPermissions(...permissions), scope(second), ACCESS)),
        {
          statusCode: 403,
          code: 'permission_missing',
          message: /encounters\.access or encounters\.fhir\.encounter\.read/,
        },
      );
  });

  test('answers 403 where the module is off for the facility of the call [ACC-11]', () => {
    assert.throws(() => answered(() => checkGrants(CALLER, scope(second), ACCESS)), {
      statusCode: 403,
      code: 'module_disabled',
    });
    const { module: _, ...anyModule } = ACCESS;
    checkGrants(CALLER, scope(second), anyModule);
  });
});

describe('checkPasswordFlags', () => {
  test('answers 403, naming the web application, while the password must be changed or set [SIGN-IN-40]', () => {
    const page = 'https://records.example.org/console/change-password';
    checkPasswordFlags(CALLER, page);
    const refusals = [
      [
        'mustChangePassword',
        /web application, https:\/\/records\.example\.org\/console\/change-password in a browser/,
      ],
      ['requiresPasswordSetup', /web application .*setup link/],
    ] as const;
    for (const [flag, message] of refusals)
      assert.throws(() => answered(() => checkPasswordFlags({ ...CALLER, [flag]: true }, page)), {
        statusCode: 403,
        message,
      });
  });
});
