/** Publishes orders and vital sets to a FHIR server that fails now and then. */
import { randomUUID } from 'node:crypto';
import type { PublishedResource } from '../ledger.ts';
import { type KnownPatient, pause, type World } from '../world.ts';

const PUBLISHES: readonly ((patient: KnownPatient) => string)[] = [
  ({ labOrderId }) => `/investigations/lab/orders/${labOrderId}`,
  ({ imagingOrderId }) => `/investigations/imaging/orders/${imagingOrderId}`,
  ({ vitalSetId }) => `/encounters/vitals/${vitalSetId}`,
];

export async function publishRecords(world: World): Promise<void> {
  const { patients, fhirServer } = world;
  const random = world.random('publish-records');
  while (!world.stopping) {
    const kind = random.pick(['drop', 'drop-after', 'status', 'slow', 'reset'] as const);
    // Also forgets the requests that the server has seen, which would fill its memory.
    await fhirServer.script({ kind, nth: random.between(1, 12), status: 503, delayMs: 300 });
    for (let count = 0; count < 6 && !world.stopping; count += 1) {
      const answer = await publishOne(world, random.pick(PUBLISHES)(random.pick(patients)));
      if (answer !== undefined && ![200, 409, 429, 500, 502, 503].includes(answer))
        world.ledger.faults.push(`publishes: answered ${answer}`);
      await pause(random, 250);
    }
  }
}

/** Every order and set once more, now that nothing fails: each must succeed. */
export async function publishAll(world: World): Promise<void> {
  await world.fhirServer.script();
  for (const patient of world.patients)
    for (const path of PUBLISHES.map((pathOf) => pathOf(patient))) {
      const end = performance.now() + 90_000;
      while ((await publishOne(world, path)) !== 200)
        if (performance.now() > end) {
          world.ledger.faults.push('publishes: one does not succeed, though nothing fails any more');
          break;
        }
    }
}

async function publishOne({ client, ledger }: World, path: string): Promise<number | undefined> {
  const correlationId = randomUUID();
  const answer = await client.call('publishes', `${path}/clinical/publish-fhir`, {
    method: 'POST',
    token: await client.token(),
    headers: { 'x-correlation-id': correlationId },
  });
  if (answer?.status !== 200) return answer?.status;
  ledger.accesses.push(correlationId);
  for (const one of answer.json.published as Published[])
    ledger.published.set(`${one.resourceType}/${one.localId}`, entryOf(one));
  return 200;
}

interface Published {
  resourceType: string;
  localId: string;
  id: string;
  versionId: string | null;
}

function entryOf({ resourceType, localId, id, versionId }: Published): PublishedResource {
  return {
    local: `${resourceType}/${localId}`,
    remote: `${resourceType}/${id}`,
    version: Number(versionId ?? 1),
  };
}
