import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { createFacility } from '../../tenancy/organisations/facilities.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { translationKey } from '../maps/apply-map.ts';
import { deleteMapEntry, putMapEntry } from '../maps/change-maps.ts';
import type { GivenEntry } from '../maps/map-entry.ts';
import { createTranslator } from './translate.ts';

const LOINC = 'http://loinc.org';
const LAB = 'urn:lab';
const change = { now: new Date('2026-01-02T03:04:05Z'), author: OPERATOR };

const database = await useTestDatabase();
const scope = await createPlace(database.pool);
const facility = await createFacility(database.pool, {
  organisationId: scope.organisationId,
  name: 'Sister',
});
const sister: FacilityScope = { ...scope, facilityId: facility.id };
const stranger = await createPlace(database.pool);

const put = (owner: FacilityScope, facilityId: string | null, given: GivenEntry) =>
  putMapEntry(database.pool, { organisationId: owner.organisationId, facilityId }, { given, change });

async function targetsOf(asked: FacilityScope, code: string, system: string | undefined = LAB) {
  const coding = { system, code };
  const translations = await createTranslator({ db: database.pool }).translate(asked, [coding]);
  return translations.get(translationKey(coding)) ?? [];
}

describe('what the maps say', () => {
  test("is the organisation's entry, at each of its facilities and nowhere else [TERM-2]", async () => {
    await put(scope, null, {
      localSystem: LAB,
      localCode: 'HGB',
      targetSystem: LOINC,
      targetCode: '718-7',
      targetDisplay: 'Hemoglobin',
    });
    const expected = [{ system: LOINC, code: '718-7', display: 'Hemoglobin' }];
    assert.deepEqual(await targetsOf(scope, 'HGB'), expected);
    assert.deepEqual(await targetsOf(sister, 'HGB'), expected);
    assert.deepEqual(await targetsOf(stranger, 'HGB'), []);
    assert.deepEqual(await targetsOf(scope, 'hgb'), [], 'codes are compared with case');
    assert.deepEqual(await targetsOf(scope, 'HGB', 'urn:other'), []);
  });

  test("is the facility's entry before the organisation's, at that facility only [TERM-2]", async () => {
    await put(scope, null, { localSystem: LAB, localCode: 'GLU', targetSystem: LOINC, targetCode: '2345-7' });
    await put(scope, sister.facilityId, {
      localSystem: LAB,
      localCode: 'GLU',
      targetSystem: LOINC,
      targetCode: '2339-0',
    });
    assert.deepEqual(await targetsOf(scope, 'GLU'), [{ system: LOINC, code: '2345-7' }]);
    assert.deepEqual(await targetsOf(sister, 'GLU'), [{ system: LOINC, code: '2339-0' }]);
  });

  test('is nothing where the facility says that there is no counterpart [TERM-5]', async () => {
    await put(scope, null, { localSystem: LAB, localCode: 'NONE', targetSystem: LOINC, targetCode: '718-7' });
    await put(scope, sister.facilityId, {
      localSystem: LAB,
      localCode: 'NONE',
      targetSystem: LOINC,
      equivalence: 'unmatched',
    });
    assert.deepEqual(await targetsOf(sister, 'NONE'), []);
    assert.equal((await targetsOf(scope, 'NONE')).length, 1);
  });

  test('is one code for each standard system', async () => {
    const snomed = 'http://snomed.info/sct';
    await put(scope, null, { localSystem: LAB, localCode: 'TWO', targetSystem: LOINC, targetCode: '718-7' });
    await put(scope, null, {
      localSystem: LAB,
      localCode: 'TWO',
      targetSystem: snomed,
      targetCode: '259695003',
    });
    assert.deepEqual(await targetsOf(scope, 'TWO'), [
      { system: LOINC, code: '718-7' },
      { system: snomed, code: '259695003' },
    ]);
  });

  // R4 concept-map-equivalence: only a target that means the same, or more, may stand for the local code.
  for (const [equivalence, sent] of Object.entries({
    equal: 1,
    equivalent: 1,
    wider: 1,
    subsumes: 1,
    relatedto: 0,
    narrower: 0,
    specializes: 0,
    inexact: 0,
    disjoint: 0,
  })) {
    test(`is ${sent === 1 ? 'the target' : 'nothing'} where the target is ${equivalence}`, async () => {
      await put(scope, null, {
        localSystem: LAB,
        localCode: equivalence,
        targetSystem: LOINC,
        targetCode: '718-7',
        equivalence,
        comment: 'c',
      });
      assert.equal((await targetsOf(scope, equivalence)).length, sent);
    });
  }

  test('is found for codes that came without a system', async () => {
    await put(scope, null, { localCode: 'BARE', targetSystem: LOINC, targetCode: '718-7' });
    const bare = { code: 'BARE' };
    const translations = await createTranslator({ db: database.pool }).translate(scope, [bare]);
    assert.deepEqual(translations.get(translationKey(bare)), [{ system: LOINC, code: '718-7' }]);
  });

  test('has the official display of LOINC where the service knows it', async () => {
    await put(scope, null, {
      localSystem: LAB,
      localCode: 'HR',
      targetSystem: LOINC,
      targetCode: '8867-4',
      targetDisplay: 'Pulse!',
    });
    assert.deepEqual(await targetsOf(scope, 'HR'), [
      { system: LOINC, code: '8867-4', display: 'Heart rate' },
    ]);
  });
});

test('a changed and a deleted entry show in the next look-up, of every translator [TERM-4]', async () => {
  const [here, there] = [createTranslator({ db: database.pool }), createTranslator({ db: database.pool })];
  const coding = { system: LAB, code: 'LIVE' };
  const codes = async () => {
    const answers = await Promise.all(
      [here, there].map((translator) => translator.translate(scope, [coding])),
    );
    return answers.map((translations) => translations.get(translationKey(coding))?.[0]?.code);
  };
  const key = { localSystem: LAB, localCode: 'LIVE', targetSystem: LOINC };
  assert.deepEqual(await codes(), [undefined, undefined]);
  await put(scope, null, { ...key, targetCode: '718-7' });
  assert.deepEqual(await codes(), ['718-7', '718-7']);
  await put(scope, null, { ...key, targetCode: '2345-7' });
  assert.deepEqual(await codes(), ['2345-7', '2345-7']);
  await deleteMapEntry(
    database.pool,
    { organisationId: scope.organisationId, facilityId: null },
    { key, change },
  );
  assert.deepEqual(await codes(), [undefined, undefined]);
});

describe('what it costs', () => {
  function counting(): { db: Queryable; statements: () => string[] } {
    const statements: string[] = [];
    const db: Queryable = {
      query: (statement) => {
        statements.push(JSON.stringify(statement.values));
        return database.pool.query(statement);
      },
    };
    return { db, statements: () => statements };
  }

  test('look-ups of one organisation that arrive together share a statement, and name no other', async () => {
    await put(stranger, null, {
      localSystem: LAB,
      localCode: 'HGB',
      targetSystem: LOINC,
      targetCode: '20509-6',
    });
    const { db, statements } = counting();
    const translator = createTranslator({ db });
    const coding = { system: LAB, code: 'HGB' };
    const nobody = { ...scope, organisationId: randomUUID() };
    const asked = [scope, stranger, sister, scope, nobody];
    const answers = await Promise.all(
      asked.map((one) => translator.translate(one, [coding, coding, { code: 'X' }])),
    );
    assert.deepEqual(
      answers.map((translations) => translations.get(translationKey(coding))?.[0]?.code),
      ['718-7', '20509-6', '718-7', '718-7', undefined],
    );
    const organisations = [scope, stranger, nobody].map(({ organisationId }) => organisationId);
    assert.deepEqual(
      statements().map((values) => organisations.filter((id) => values.includes(id))),
      organisations.map((id) => [id]),
    );
  });

  test('LOINC, and codings without a code, are not looked up', async () => {
    const { db, statements } = counting();
    const translations = await createTranslator({ db }).translate(scope, [
      { system: LOINC, code: '718-7' },
      { system: LAB },
      { code: '' },
    ]);
    assert.equal(translations.size, 0);
    assert.deepEqual(statements(), []);
  });
});
