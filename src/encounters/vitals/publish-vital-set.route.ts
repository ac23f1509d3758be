/** POST and GET /encounters/vitals/<vital_set_id>/clinical/publish-fhir. Contract: PUB-3. */
import type { PublishRouteOptions } from '../../publish/runs/publish.route.ts';
import { type EmitVitalSetDependencies, vitalSetSource } from './fetch-vital-set.ts';

export function publishedVitalSet(deps: EmitVitalSetDependencies): PublishRouteOptions {
  return {
    idName: 'vitalSetId',
    what: 'a vital set',
    operation: 'VitalSet',
    permission: 'encounters.vitals.manage',
    module: 'vitals',
    source: vitalSetSource(deps),
  };
}
