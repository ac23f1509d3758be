/** POST and GET /encounters/vitals/<vital_set_id>/clinical/publish-fhir. Contract: PUB-3. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Route } from '../../platform/http/route.ts';
import type { ListPublicationsDependencies } from '../../publish/history/list-publications.ts';
import {
  type PublishRouteOptions,
  publicationsRoute,
  publishRoute,
} from '../../publish/runs/publish.route.ts';
import type { Publisher } from '../../publish/runs/publish.ts';
import type { Access } from '../../tenancy/callers/access.ts';
import type { Translator } from '../../terminology/lookup/translate.ts';
import { vitalSetSource } from './fetch-vital-set.ts';

interface LoadDependencies {
  db: Queryable;
  translator: Translator;
}

export function publishVitalSetRoute(deps: LoadDependencies & { publisher: Publisher }): Route<Access> {
  return publishRoute(deps, options(deps));
}

export function listVitalSetPublicationsRoute(
  deps: LoadDependencies & ListPublicationsDependencies,
): Route<Access> {
  return publicationsRoute(deps, options(deps));
}

function options(deps: LoadDependencies): PublishRouteOptions {
  return {
    idName: 'vitalSetId',
    what: 'a vital set',
    operation: 'VitalSet',
    permission: 'encounters.vitals.manage',
    module: 'vitals',
    source: vitalSetSource(deps),
  };
}
