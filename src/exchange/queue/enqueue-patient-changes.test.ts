/** What is delivered names only those patients whom the facility of the delivery may learn of. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { connect, insertPatients, queue } from '../../../test-support/exchange/exchange-records.ts';
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createFacility, createOrganisation } from '../../tenancy/organisations/facilities.ts';

const keys = createKeyRing(randomBytes(32));
const database = await useTestDatabase();
const { id: organisationId } = await createOrganisation(database.pool, { name: 'Org' });
const { id: here } = await createFacility(database.pool, { organisationId, name: 'Here' });
const { id: there } = await createFacility(database.pool, { organisationId, name: 'There' });

const run = (text: string, values: unknown[]) => database.pool.query({ text, values });
const connection = (name: string, facilityId: string, purposeOfUse: PurposeOfUse = 'TREATMENT') =>
  connect(
    { pool: database.pool, keys },
    { organisationId, facilityId },
    { name, address: 'http://127.0.0.1:9/in', facilityIds: [facilityId], purposeOfUse },
  );

test('a delivery leaves out links to those whom its facility or its exchange must not learn of [EXC-2, PAT-12]', async () => {
  const place = { organisationId, facilityId: here };
  const names = ['here', 'there', 'research'] as const;
  await connection('here', here);
  await connection('there', there);
  await connection('research', here, 'RESEARCH');
  const [patient = '', everywhere, onlyHere, refusing] = await insertPatients(database.pool, place, 4);
  await run(
    'insert into patient_registration (organisation_id, facility_id, patient_id) select $1, $2, unnest($3::uuid[])',
    [organisationId, there, [patient, everywhere]],
  );
  await run("update patient set refused_purposes = '{RESEARCH}' where id = $1", [refusing]);
  const others = [everywhere, onlyHere, refusing, null];
  await run(
    `insert into patient_link (organisation_id, patient_id, position, other_id, other_display, type)
     select $1, $2, n, other, 'A name', 'seealso'
     from unnest($3::uuid[]) with ordinality o (other, n)`,
    [organisationId, patient, others],
  );
  assert.equal(await queue(database.pool, place, [patient]), 3);
  const { rows } = await run(
    `select c.name, d.facility_id, d.body::json -> 'resource' -> 'link' as links
     from exchange_delivery d
     join exchange_connection c on c.organisation_id = d.organisation_id and c.id = d.connection_id
     where d.patient_id = $1`,
    [patient],
  );
  const nobody = { other: { display: 'A name' }, type: 'seealso' };
  const to = (...ids: unknown[]) => [
    ...ids.map((id) => ({ other: { reference: `Patient/${id}` }, type: 'seealso' })),
    nobody,
  ];
  const expected = {
    here: [here, to(everywhere, onlyHere, refusing)],
    there: [there, to(everywhere)],
    research: [here, to(everywhere, onlyHere)],
  };
  for (const name of names) {
    const row = rows.find((each) => each.name === name);
    assert.deepEqual([row?.facility_id, row?.links], expected[name], name);
  }
  assert.equal(await queue(database.pool, place, [patient], 'updated'), 0, 'nothing changed');
});
