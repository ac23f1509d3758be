/** What a route asks of its caller, and the typed constructors of routes. */
import type { TObject, TSchema } from 'typebox';
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type {
  Reply,
  RequestContext,
  Route,
  RouteDocs,
  RouteRequest,
  RouteSchemas,
} from '../../platform/http/route.ts';
import type { Module } from '../organisations/modules.ts';
import type { Permission } from '../roles/permissions.ts';
import type { FacilityScope } from '../scope.ts';
import type { Caller, ConsoleStage, TokenIdentity } from './caller.ts';

/** All the checks of a call, in their order (ACC-14), for one facility. */
export interface FacilityAccess {
  kind: 'facility';
  /** Any one of these is enough. */
  permissions: readonly Permission[];
  /** The module that must be on for the facility; none for what concerns the organisation's set-up. */
  module?: Module;
  /** Where the module depends on the permission: one permission whose module is on is enough. */
  moduleOf?: Readonly<Partial<Record<Permission, Module>>>;
  /** Modules that must be on beside it. */
  alsoModules?: readonly Module[];
  /**
   * `required`: 400 without `purposeOfUse`. `default`: OPS without it. `none`: the route returns no patient data.
   */
  purposeOfUse: 'required' | 'default' | 'none';
}

export type Access =
  /** Anyone may call. */
  | { kind: 'open' }
  /** A valid access token is enough, also of an account that must change its password. */
  | { kind: 'session' }
  | FacilityAccess
  /** Only at the console: a session of it in one of these stages, also of an account that must change its password. */
  | { kind: 'console'; stages: readonly ConsoleStage[] };

export interface SessionContext extends RequestContext {
  identity: TokenIdentity;
  caller: Caller;
  /** For a handler that waits, or reads its body as a stream: throws when the caller lost the right meanwhile. */
  stillAllowed(): Promise<void>;
}

export interface FacilityContext extends SessionContext {
  scope: FacilityScope;
  purposeOfUse: PurposeOfUse;
}

interface Definition<P extends TObject, Q extends TObject, B extends TSchema, Context>
  extends RouteSchemas<P, Q, B> {
  docs: RouteDocs;
  handle: (request: RouteRequest<P, Q, B>, context: Context) => Promise<Reply>;
}

/** A route that anyone may call. */
export function openRoute<P extends TObject, Q extends TObject, B extends TSchema>(
  definition: Definition<P, Q, B, RequestContext>,
): Route<Access> {
  return build({ kind: 'open' }, definition);
}

/** A route that needs an access token and nothing else. */
export function sessionRoute<P extends TObject, Q extends TObject, B extends TSchema>(
  definition: Definition<P, Q, B, SessionContext>,
): Route<Access> {
  return build({ kind: 'session' }, definition);
}

/** Of a route whose constructor says below which heading it is documented. */
type Untagged<P extends TObject, Q extends TObject, B extends TSchema, Context> = Omit<
  Definition<P, Q, B, Context>,
  'docs'
> & { docs: Omit<RouteDocs, 'tag'> };

/** A route of the console about the caller's own session, in one of these stages of it. */
export function consoleRoute<P extends TObject, Q extends TObject, B extends TSchema>(
  stages: readonly ConsoleStage[],
  { docs, ...definition }: Untagged<P, Q, B, SessionContext>,
): Route<Access> {
  return build({ kind: 'console', stages }, { ...definition, docs: { ...docs, tag: 'Console' } });
}

/** A route on the set-up of the organisation: it shows no data of patients. Any one of the permissions is enough. */
export function administrationRoute<P extends TObject, Q extends TObject, B extends TSchema>(
  permissions: readonly Permission[],
  { docs, ...definition }: Untagged<P, Q, B, FacilityContext>,
): Route<Access> {
  const access = { permissions, purposeOfUse: 'none' } as const;
  return facilityRoute(access, { ...definition, docs: { ...docs, tag: 'Administration' } });
}

/** A route on the data of one facility. `purposeOfUse` is added to its query where it applies. */
export function facilityRoute<P extends TObject, Q extends TObject, B extends TSchema>(
  access: Omit<FacilityAccess, 'kind'>,
  definition: Definition<P, Q, B, FacilityContext>,
): Route<Access> {
  return build({ kind: 'facility', ...access }, definition);
}

function build<P extends TObject, Q extends TObject, B extends TSchema, Context>(
  access: Access,
  { docs, handle, ...schemas }: Definition<P, Q, B, Context>,
): Route<Access> {
  return { access, docs, handle: handle as Route['handle'], schemas: schemas as unknown as Route['schemas'] };
}
