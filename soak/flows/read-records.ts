/** Partner systems that read: every answer with data must be in the access log under its correlation id. */
import { randomUUID } from 'node:crypto';
import { type KnownPatient, pause, type World } from '../world.ts';

type Read = (patient: KnownPatient) => string;

const READS: readonly Read[] = [
  ({ id }) => `/patients/base/${id}`,
  ({ id }) => `/patients/base/${id}/clinical/fhir`,
  ({ id }) => `/encounters/fhir/Encounter?patient=${id}`,
  ({ encounterId }) => `/encounters/fhir/Encounter/${encounterId}?`,
  ({ labOrderId }) => `/investigations/lab/orders/${labOrderId}/clinical/fhir`,
  ({ imagingOrderId }) => `/investigations/imaging/orders/${imagingOrderId}/clinical/fhir`,
  ({ vitalSetId }) => `/encounters/vitals/${vitalSetId}/clinical/fhir`,
  ({ id }) => `/investigations/lab/orders?patient=${id}`,
  ({ id }) => `/encounters/vitals?patient=${id}`,
];

export function readRecords(number: number): (world: World) => Promise<void> {
  return async (world) => {
    const { client, ledger, patients } = world;
    const random = world.random(`read-records ${number}`);
    while (!world.stopping) {
      const path = random.pick(READS)(random.pick(patients));
      const correlationId = randomUUID();
      const answer = await client.call(
        'reads',
        `${path}${path.includes('?') ? '&' : '?'}purposeOfUse=TREATMENT`,
        {
          token: await client.token(),
          headers: { 'x-correlation-id': correlationId },
        },
      );
      if (answer?.status === 200) ledger.accesses.push(correlationId);
      else if (answer !== undefined && ![429, 500, 502, 503].includes(answer.status))
        ledger.faults.push(`reads: a read that is allowed was answered ${answer.status}`);
      await pause(random, 60);
    }
  };
}
