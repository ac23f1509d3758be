/** A connection to an exchange, and which settings are valid. Contract: EXC-1. */

import { PURPOSES_OF_USE, type PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import { parseOutboundAddress, type Reach } from '../../outbound/outbound-address.ts';
import { type Author, OPERATOR } from '../../tenancy/administration/author.ts';
import { isOneLine } from '../../tenancy/organisations/name.ts';
import { exchangeError } from '../errors.ts';
import type { SecretDirection } from './connection-secret.store.ts';

export interface ConnectionSettings {
  name: string;
  address: string;
  clientId: string;
  callbackHeader: string;
  identifierSystem: string;
  purposeOfUse: PurposeOfUse;
  /** Requests under way at once, of one worker process. */
  maxInFlight: number;
  timeoutMs: number;
  /** Null: every facility of the organisation. */
  facilityIds: string[] | null;
}

/** How far an address may reach: `operator_address` of its connection, and what the operator allows over HTTP. */
export function reachOf(operatorAddress: boolean, { allowPrivateAddresses }: AddressSettings): Reach {
  return operatorAddress || allowPrivateAddresses ? 'operator' : 'public';
}

export interface AddressSettings {
  /** Addresses set over HTTP may be those that an operator may set (docs/adr/0052). */
  allowPrivateAddresses: boolean;
}

/** Who sets an address, and so how far it may reach. */
export interface AddressAuthor {
  operatorAddress: boolean;
  reach: Reach;
  by: Author;
}

export const BY_OPERATOR: AddressAuthor = { operatorAddress: true, reach: 'operator', by: OPERATOR };

export function overHttp(settings: AddressSettings, by: Author): AddressAuthor {
  return { operatorAddress: false, reach: reachOf(false, settings), by };
}

export interface Connection extends ConnectionSettings {
  id: string;
  organisationId: string;
  enabled: boolean;
  createdAt: Date;
  circuitOpenSince: Date | null;
  secrets: SecretStatus[];
}

export interface SecretStatus {
  id: string;
  direction: SecretDirection;
  createdAt: Date;
  /** Null: an outbound one that waits to be activated. */
  activeFrom: Date | null;
  goodUntil: Date | null;
  lastUsedAt: Date | null;
  lastUsedFor: string | null;
}

/** Headers that Node.js folds or drops when repeated, or that mean something else: a signature is not carried there. */
const TAKEN_HEADERS = new Set(
  (
    'accept accept-encoding accept-language age authorization cache-control connection content-encoding ' +
    'content-length content-type cookie date etag expect expires forwarded from host if-match if-modified-since ' +
    'if-none-match if-unmodified-since keep-alive last-modified location max-forwards origin pragma prefer ' +
    'referer retry-after server set-cookie te trailer transfer-encoding upgrade user-agent via x-correlation-id ' +
    'x-idempotency-key x-org-id x-facility-id x-real-ip'
  ).split(' '),
);
/** Of browsers and of proxies. */
const TAKEN_PREFIXES = /^(sec|proxy|x-forwarded)-/;

function isTaken(header: string): boolean {
  // What every object has is never absent among the headers of a request, and never a string.
  return TAKEN_HEADERS.has(header) || TAKEN_PREFIXES.test(header) || header in {};
}

/** The settings as they are stored. Throws `bad_connection_setting` for the first that is not valid. */
export function checkSettings<Settings extends Partial<ConnectionSettings>>(
  settings: Settings,
  reach: Reach,
): Settings {
  const { name, address, clientId, callbackHeader, identifierSystem, facilityIds } = settings;
  if (name !== undefined)
    require(/^\S(.{0,198}\S)?$/u.test(name) &&
      isOneLine(name), 'The name must be one line of 1 to 200 characters.');
  if (clientId !== undefined)
    require(/^[\x21-\x7e]{1,200}$/.test(
      clientId,
    ), 'The client id must be 1 to 200 visible ASCII characters.');
  if (callbackHeader !== undefined) checkHeader(callbackHeader);
  if (identifierSystem !== undefined)
    require(/^[a-z][a-z0-9+.-]*:[^\s<>"]{1,400}$/i.test(identifierSystem) &&
      isOneLine(identifierSystem), 'The identifier system must be an absolute URI.');
  checkNumbers(settings);
  return {
    ...settings,
    ...(address === undefined ? {} : { address: checkedAddress(address, reach) }),
    ...(facilityIds == null ? {} : { facilityIds: [...new Set(facilityIds.map((id) => id.toLowerCase()))] }),
  };
}

function checkNumbers({ maxInFlight, timeoutMs, purposeOfUse }: Partial<ConnectionSettings>): void {
  const within = (value: number, min: number, max: number) =>
    Number.isInteger(value) && value >= min && value <= max;
  if (maxInFlight !== undefined)
    require(within(maxInFlight, 1, 256), 'The requests in flight must be a whole number from 1 to 256.');
  if (timeoutMs !== undefined)
    require(within(timeoutMs, 100, 120_000), 'The time-out must be from 100 to 120000 milliseconds.');
  if (purposeOfUse !== undefined)
    require(PURPOSES_OF_USE.includes(
      purposeOfUse,
    ), `The purpose of use must be one of ${PURPOSES_OF_USE.join(', ')}.`);
}

function checkHeader(header: string): void {
  require(/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(
    header,
  ), 'The callback header must be a header name in lower case, such as x-signature.');
  require(!isTaken(header), `The header ${header} has another use. Choose one such as x-signature.`);
}

function checkedAddress(address: string, reach: Reach): string {
  require(address.length <= 2_000, 'The address must be at most 2000 characters.');
  try {
    return parseOutboundAddress(address, reach).href;
  } catch (error) {
    throw exchangeError('bad_connection_setting', { problem: (error as Error).message }, { cause: error });
  }
}

function require(good: boolean, message: string): void {
  if (!good) throw exchangeError('bad_connection_setting', { problem: message });
}
