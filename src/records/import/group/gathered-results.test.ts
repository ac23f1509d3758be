/** Results without an order are gathered under orders made for them: by patient, specimen or encounter, and time. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { bundle, type Resource } from '../../../../test-support/records/clinic.ts';
import { importJson } from '../../../../test-support/records/import-files.ts';
import { type Tenant, type TestAccount, useEmptyApi } from '../../../../test-support/service/api.ts';
import { createFacility } from '../../../tenancy/organisations/facilities.ts';

const TIME = '2024-03-01T10:00:00Z';
const to = (type: string, id: string) => ({ reference: `${type}/${id}` });
const coded = (code: string) => ({ coding: [{ system: 'https://clinic.example/tests', code }] });
const patient = (id: string): Resource => ({ resourceType: 'Patient', id });
const encounter = (id: string): Resource => ({
  resourceType: 'Encounter',
  id,
  status: 'finished',
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  subject: to('Patient', 'p'),
});
const specimen = (id: string): Resource => ({ resourceType: 'Specimen', id, subject: to('Patient', 'p') });
const order: Resource = {
  resourceType: 'ServiceRequest',
  id: 'asked',
  status: 'active',
  intent: 'order',
  category: [{ coding: [{ system: 'http://snomed.info/sct', code: '108252007' }] }],
  code: coded('asked'),
  subject: to('Patient', 'p'),
};
const result = (id: string, more: object = {}): Resource => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: coded(id),
  subject: to('Patient', 'p'),
  effectiveDateTime: TIME,
  valueString: 'x',
  ...more,
});
const PEOPLE = [patient('p'), patient('q'), encounter('visit'), encounter('other-visit')];
const SPECIMENS = [specimen('blood'), specimen('urine')];

const api = await useEmptyApi();

interface GatheredOrder {
  id: string;
  codes: string[];
  code: string | null;
  status: string;
  encounter: boolean;
  madeUp: boolean;
}

class Clinic {
  readonly #tenant: Tenant;
  readonly #account: TestAccount;

  private constructor(tenant: Tenant, account: TestAccount) {
    this.#tenant = tenant;
    this.#account = account;
  }

  static async with(...records: Resource[]): Promise<Clinic> {
    const tenant = await api.createTenant();
    const clinic = new Clinic(tenant, await api.createAccount(tenant));
    await clinic.load(...PEOPLE, ...records);
    return clinic;
  }

  async load(...records: Resource[]): Promise<void> {
    const { rejected } = await importJson(api.database.pool, this.#tenant, JSON.stringify(bundle(records)));
    assert.deepEqual(rejected, []);
  }

  get(path: string) {
    return api.call(path, { token: this.#account.token });
  }

  /** Each order with the codes of its results. */
  async orders(): Promise<GatheredOrder[]> {
    const { rows } = await api.database.pool.query<GatheredOrder>({
      text: `
        select o.id, o.made_up as "madeUp", o.code #>> '{coding,0,code}' as code, o.status,
          o.encounter_id is not null as encounter,
          array(
            select b.code #>> '{coding,0,code}' as code
            from observation b
            where b.organisation_id = $1 and b.order_id = o.id
            order by code
          ) as codes
        from investigation_order o
        where o.organisation_id = $1
        order by codes, o.id`,
      values: [this.#tenant.organisationId],
    });
    return rows;
  }

  async groups(): Promise<string[]> {
    return (await this.orders()).map(({ codes }) => codes.join(' '));
  }
}

const inVisit = { encounter: to('Encounter', 'visit') };
const inOtherVisit = { encounter: to('Encounter', 'other-visit') };
const ofBlood = { specimen: to('Specimen', 'blood') };
const ofUrine = { specimen: to('Specimen', 'urine') };
const at = (effectiveDateTime: string | undefined) => ({ effectiveDateTime });

describe('results without an order share one', () => {
  for (const [what, records, groups] of [
    [
      'of one specimen and time, whatever their encounters and categories',
      [
        result('a', { ...ofBlood, ...inVisit }),
        result('b', { ...ofBlood, ...inOtherVisit, category: [{ text: 'exam' }] }),
        result('c', { ...ofUrine, ...inVisit }),
      ],
      ['a b', 'c'],
    ],
    [
      'of one encounter and time, where they name no specimen',
      [
        result('a', inVisit),
        result('b', inVisit),
        result('c', inOtherVisit),
        result('d', { ...inVisit, ...ofBlood }),
      ],
      ['a b', 'c', 'd'],
    ],
    [
      'of one time, where they name neither',
      [result('a'), result('b', at('2024-03-01T11:00:00+01:00')), result('c', at('2024-03-01T10:00:01Z'))],
      ['a b', 'c'],
    ],
    [
      'of one day, where that is all that is known',
      [result('a', at('2024-03-01')), result('b', at('2024-03-01'))],
      ['a b'],
    ],
    [
      'but not of one month, nor without a time',
      [
        ...['a', 'b'].map((id) => result(id, { ...ofBlood, ...at('2024-03') })),
        ...['c', 'd'].map((id) => result(id, { ...ofBlood, ...at(undefined) })),
      ],
      ['a', 'b', 'c', 'd'],
    ],
    ['but not of two patients', [result('a'), result('b', { subject: to('Patient', 'q') })], ['a', 'b']],
    [
      'with the panels and their members, by the time of the topmost panel',
      [
        result('a'),
        result('member', at('2024-03-01T09:00:00Z')),
        result('panel', { hasMember: [to('Observation', 'member')], valueString: undefined }),
      ],
      ['a member panel'],
    ],
  ] as const)
    test(`${what} [IN-52]`, async () => {
      const clinic = await Clinic.with(...SPECIMENS, ...records);
      assert.deepEqual(await clinic.groups(), groups);
    });
});

test('a gathered order says what all of its results say alike [IN-52]', async () => {
  const clinic = await Clinic.with(result('a', inVisit), result('b', { ...inVisit, status: 'registered' }));
  const [first] = await clinic.orders();
  assert.deepEqual([first?.code, first?.status, first?.encounter], [null, 'active', true]);

  await clinic.load(result('b', { ...inVisit, status: 'cancelled', code: coded('a') }));
  const [second] = await clinic.orders();
  assert.deepEqual([second?.id, second?.code, second?.status], [first?.id, 'a', 'completed']);

  await clinic.load(result('a', { ...inVisit, status: 'entered-in-error' }));
  assert.equal((await clinic.orders())[0]?.status, 'revoked');
});

test('the code of a gathered order is that of its panel, not of the members [IN-52]', async () => {
  const clinic = await Clinic.with(
    result('member'),
    result('panel', { hasMember: [to('Observation', 'member')], valueString: undefined }),
  );
  assert.deepEqual(
    (await clinic.orders()).map(({ code }) => code),
    ['panel'],
  );
});

test('a result moves when its specimen, encounter or time changes, and when they come late [IN-37, IN-52]', async () => {
  const clinic = await Clinic.with(
    result('a', { ...inVisit, ...ofBlood }),
    result('b', { ...inVisit, ...ofUrine }),
    result('c', { ...inVisit, ...ofUrine }),
  );
  assert.deepEqual(await clinic.groups(), ['a b c']);
  await clinic.load(...SPECIMENS);
  assert.deepEqual(await clinic.groups(), ['a', 'b c']);
  await clinic.load(result('b', { ...inVisit, ...ofBlood }));
  assert.deepEqual(await clinic.groups(), ['a b', 'c']);
  const [shared, alone] = await clinic.orders();
  assert.deepEqual([shared?.code, alone?.code], [null, 'c']);
  await clinic.load(result('a', { ...ofBlood, ...at('2024-03-02') }));
  assert.deepEqual(await clinic.groups(), ['a', 'b', 'c']);
  assert.deepEqual(
    (await clinic.orders()).map(({ code }) => code),
    ['a', 'b', 'c'],
  );
});

test('results leave for a real order one after the other; the id leads to that of the last [IN-38, IN-52]', async () => {
  const clinic = await Clinic.with(result('a'), result('b'));
  const [gathered] = await clinic.orders();
  const path = `/investigations/lab/orders/${gathered?.id}/clinical/fhir`;
  const basedOn = { basedOn: [to('ServiceRequest', 'asked')] };

  await clinic.load(order, result('a', basedOn));
  assert.deepEqual(await clinic.groups(), ['a', 'b']);
  assert.equal((await clinic.get(path)).json.orderId, gathered?.id);
  assert.equal((await clinic.orders())[1]?.code, 'b');

  await clinic.load(result('b', basedOn));
  const [real, ...others] = await clinic.orders();
  assert.deepEqual([real?.codes, real?.madeUp, others], [['a', 'b'], false, []]);
  const { status, json } = await clinic.get(path);
  assert.deepEqual([status, json.orderId], [200, real?.id]);
});

test('two facilities make an order each, although patient and time are the same [IN-52]', async () => {
  const { organisationId } = await api.createTenant();
  const shared = { resourceType: 'Patient', id: randomUUID() };
  for (const name of ['North', 'South']) {
    const { id: facilityId } = await createFacility(api.database.pool, { organisationId, name });
    const records = [shared, result(name, { subject: to('Patient', shared.id) })];
    await importJson(api.database.pool, { organisationId, facilityId }, JSON.stringify(bundle(records)));
  }
  const { rows } = await api.database.pool.query(
    'select count(*)::int as orders, count(distinct id)::int as ids, count(distinct patient_id)::int as patients from investigation_order where organisation_id = $1',
    [organisationId],
  );
  assert.deepEqual(rows, [{ orders: 2, ids: 2, patients: 1 }]);
});

test('the id of an order that is gone does not lead to another patient [IN-52]', async () => {
  const clinic = await Clinic.with(result('a'));
  const [gathered] = await clinic.orders();
  await clinic.load(result('a', { subject: to('Patient', 'q') }));
  assert.deepEqual(await clinic.groups(), ['a']);
  const { status } = await clinic.get(`/investigations/lab/orders/${gathered?.id}/clinical/fhir`);
  assert.equal(status, 404);
});

test('the id of a report’s order leads to what the report came under, whatever its results did [IN-38]', async () => {
  const report: Resource = {
    resourceType: 'DiagnosticReport',
    id: 'r',
    status: 'final',
    code: coded('r'),
    subject: to('Patient', 'p'),
    result: [to('Observation', 'a'), to('Observation', 'b')],
  };
  const clinic = await Clinic.with(result('a'), result('b'), report);
  const [made] = await clinic.orders();
  assert.deepEqual(made?.codes, ['a', 'b']);
  await clinic.load(order, {
    ...report,
    basedOn: [to('ServiceRequest', 'asked')],
    result: [to('Observation', 'b')],
  });
  const { json } = await clinic.get(`/investigations/lab/orders/${made?.id}/clinical/fhir`);
  assert.equal(json.orders[0].code, 'asked');
});
