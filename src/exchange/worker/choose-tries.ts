/** What of the lanes that were leased may be tried (docs/adr/0054, docs/adr/0059). Pure. Contract: EXC-21. */

import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import { allowsPurpose } from '../../privacy/decide.ts';
import type { LeasedDelivery } from '../queue/lane.store.ts';

export interface Chosen {
  /** To be logged and sent; those of a patient who refuses the purpose, to be logged and held. */
  tries: LeasedDelivery[];
  /** Their facility has the module off: they wait for it. */
  off: LeasedDelivery[];
  /** Their facility is covered no longer: people decide. */
  uncovered: LeasedDelivery[];
  /** May be sent and need not be: one delivery is enough for a probe. */
  spare: LeasedDelivery[];
  /** One of the tries will be sent. */
  sends: boolean;
}

export function chooseTries(
  found: readonly LeasedDelivery[],
  { probe, purposeOfUse }: { probe: boolean; purposeOfUse: PurposeOfUse },
): Chosen {
  const chosen: Chosen = { tries: [], off: [], uncovered: [], spare: [], sends: false };
  for (const delivery of found) {
    const sendable = allowsPurpose(delivery.refusedPurposes, purposeOfUse);
    if (!delivery.covered) chosen.uncovered.push(delivery);
    else if (!delivery.moduleOn) chosen.off.push(delivery);
    else if (probe && sendable && chosen.sends) chosen.spare.push(delivery);
    else {
      chosen.tries.push(delivery);
      chosen.sends ||= sendable;
    }
  }
  return chosen;
}
