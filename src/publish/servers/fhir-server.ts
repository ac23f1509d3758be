/**
 * A FHIR server that resources are sent to, and which settings are valid (docs/publish.md).
 * Contract: PUB-9, PUB-18.
 */
import { parseOutboundAddress } from '../../outbound/outbound-address.ts';
import type { SealedSecret } from '../../outbound/sealed-secret.ts';
import { publishError } from '../errors.ts';

export const AUTHENTICATIONS = ['none', 'bearer', 'basic', 'api-key'] as const;
export type Authentication = (typeof AUTHENTICATIONS)[number];

/** `client`: resources carry our ids (PUT). `server`: the server gives them ids (POST, then PUT). */
export const ID_POLICIES = ['client', 'server'] as const;
export type IdPolicy = (typeof ID_POLICIES)[number];

/** How Patient, Practitioner, Organization and Encounter are referred to (docs/publish.md). */
export const REFERENCE_POLICIES = ['literal', 'logical', 'send'] as const;
export type ReferencePolicy = (typeof REFERENCE_POLICIES)[number];

export interface FhirServerSettings {
  name: string;
  /** Without a slash at its end; `<base>/<Type>/<id>` is where a resource is. */
  base: string;
  auth: Authentication;
  /** Of an API key; lower case. */
  authHeader: string | null;
  /** Of basic authentication. */
  authUser: string | null;
  contentType: string;
  idPolicy: IdPolicy;
  referencePolicy: ReferencePolicy;
  allowLocalCodes: boolean;
  /** For one request. */
  timeoutMs: number;
  /** Requests under way at once, of one process. */
  maxInFlight: number;
}

export interface FhirServer extends FhirServerSettings {
  id: string;
  /** Null: of every organisation that has none of that name. */
  organisationId: string | null;
  isDefault: boolean;
  enabled: boolean;
  /** Moves with every change. */
  version: number;
  /** Moves when the ids on record are forgotten. Only those of this generation are valid at the server. */
  idsGeneration: number;
  /** As it is stored. */
  secret: SealedSecret | undefined;
  createdAt: Date;
}

export const DEFAULT_SETTINGS: Omit<FhirServerSettings, 'name' | 'base' | 'auth'> = {
  authHeader: null,
  authUser: null,
  contentType: 'application/json',
  idPolicy: 'client',
  referencePolicy: 'literal',
  allowLocalCodes: false,
  timeoutMs: 10_000,
  maxInFlight: 8,
};

/** Headers that the requests already have, or that have another meaning. */
const TAKEN_HEADERS = new Set(
  (
    'accept accept-encoding cache-control connection content-encoding content-length content-type cookie date expect host ' +
    'if-match if-none-exist if-none-match keep-alive prefer te trailer transfer-encoding upgrade user-agent ' +
    'x-correlation-id x-idempotency-key'
  ).split(' '),
);

/** The settings as they are stored. Throws `bad_target_setting` for the first that is not valid. */
export function checkedSettings(settings: FhirServerSettings): FhirServerSettings {
  const { name, auth, authHeader, authUser, contentType, timeoutMs, maxInFlight } = settings;
  require(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(
    name,
  ), 'The name must be 1 to 63 letters, digits, dots, hyphens or underscores.');
  const base = checkedBase(settings.base);
  require(/^application\/(fhir\+)?json(; ?charset=utf-8)?$/i.test(
    contentType,
  ), 'The content type must be application/json or application/fhir+json.');
  require(between(timeoutMs, 100, 120_000), 'The time-out must be from 100 to 120000 milliseconds.');
  require(between(maxInFlight, 1, 64), 'The requests in flight must be a whole number from 1 to 64.');
  require((auth === 'api-key') ===
    (authHeader !== null), 'Give --header with --auth api-key, and only with it.');
  require((auth === 'basic') === (authUser !== null), 'Give --user with --auth basic, and only with it.');
  if (authHeader !== null) checkHeader(authHeader);
  if (authUser !== null)
    require(/^[^\p{Cc}:]{1,200}$/u.test(authUser), 'The user must be 1 to 200 characters without a colon.');
  return { ...settings, base, authHeader: authHeader?.toLowerCase() ?? null };
}

/** Throws `bad_target_setting` unless the secret can be sent as `auth` says. */
export function checkSecret(auth: Authentication, secret: string | undefined): void {
  require((auth === 'none') === (secret === undefined), auth === 'none'
    ? '--secret-stdin has no use with --auth none. Use --auth bearer, basic or api-key, or leave --secret-stdin out.'
    : `--auth ${auth} needs a secret. Give it on standard input, with --secret-stdin.`);
  if (secret === undefined) return;
  const pattern = auth === 'basic' ? /^[^\p{Cc}]{1,4096}$/u : /^[\x21-\x7e]{1,4096}$/;
  require(pattern.test(secret), 'The secret contains characters that an HTTP header cannot carry.');
}

function checkedBase(text: string): string {
  require(text.length <= 1_000, 'The base address must be at most 1000 characters.');
  try {
    const url = parseOutboundAddress(text, 'operator');
    require(url.search === '', 'The base address must not have a query.');
    return url.href.replace(/\/+$/, '');
  } catch (error) {
    throw publishError('bad_target_setting', { problem: (error as Error).message }, { cause: error });
  }
}

function checkHeader(header: string): void {
  require(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(
    header,
  ), 'The header must be a header name, such as x-api-key.');
  require(!TAKEN_HEADERS.has(
    header.toLowerCase(),
  ), `The header ${header} has another use. Choose one such as x-api-key.`);
}

function between(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function require(good: boolean, message: string): void {
  if (!good) throw publishError('bad_target_setting', { problem: message });
}
