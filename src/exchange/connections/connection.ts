/** A connection to an exchange, and which settings are valid. Contract: EXC-1. */

import { AddressRefusedError, parseOutboundAddress, type Reach } from '../../outbound/outbound-address.ts';
import type { Words } from '../../platform/words/words.ts';
import { type Author, OPERATOR } from '../../tenancy/administration/author.ts';
import { isPlainLine } from '../../tenancy/organisations/name.ts';
import { exchangeError } from '../errors.ts';
import type { ConnectionSettings } from './connection.schema.ts';

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
  const { name, address, clientId, identifierSystem, facilityIds } = settings;
  const callbackHeader = settings.callbackHeader?.toLowerCase();
  if (name !== undefined)
    require(/^\S(.{0,198}\S)?$/u.test(name) && isPlainLine(name), {
      en: 'The name must be one line of 1 to 200 characters, without marks that change the direction of text.',
      fr: 'Le nom doit être une seule ligne de 1 à 200 caractères, sans marque qui change le sens du texte.',
    });
  if (clientId !== undefined)
    require(/^[\x21-\x7e]{1,200}$/.test(clientId), {
      en: 'The client id must be 1 to 200 visible ASCII characters.',
      fr: 'L’identifiant de client doit être de 1 à 200 caractères ASCII visibles.',
    });
  if (callbackHeader !== undefined) checkHeader(callbackHeader);
  if (identifierSystem !== undefined)
    require(/^[a-z][a-z0-9+.-]*:[^\s<>"]{1,400}$/i.test(identifierSystem) && isPlainLine(identifierSystem), {
      en: 'The identifier system must be an absolute URI.',
      fr: 'Le système des identifiants doit être un URI absolu.',
    });
  checkNumbers(settings);
  return {
    ...settings,
    ...(callbackHeader === undefined ? {} : { callbackHeader }),
    ...(address === undefined ? {} : { address: checkedAddress(address, reach) }),
    ...(facilityIds == null ? {} : { facilityIds: [...new Set(facilityIds.map((id) => id.toLowerCase()))] }),
  };
}

function checkNumbers({ maxInFlight, timeoutMs }: Partial<ConnectionSettings>): void {
  const within = (value: number, min: number, max: number) =>
    Number.isInteger(value) && value >= min && value <= max;
  if (maxInFlight !== undefined)
    require(within(maxInFlight, 1, 256), {
      en: 'The requests in flight must be a whole number from 1 to 256.',
      fr: 'Les requêtes simultanées doivent être un nombre entier de 1 à 256.',
    });
  if (timeoutMs !== undefined)
    require(within(timeoutMs, 100, 120_000), {
      en: 'The time-out must be from 100 to 120000 milliseconds.',
      fr: 'Le délai d’attente doit être de 100 à 120000 millisecondes.',
    });
}

function checkHeader(header: string): void {
  require(/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(header), {
    en: 'The callback header must be a header name, such as x-signature.',
    fr: 'L’en-tête de la signature doit être un nom d’en-tête, par exemple x-signature.',
  });
  require(!isTaken(header), {
    en: `The header ${header} has another use. Choose one such as x-signature.`,
    fr: `L’en-tête ${header} a un autre usage. Choisissez-en un autre, par exemple x-signature.`,
  });
}

function checkedAddress(address: string, reach: Reach): string {
  require(address.length <= 2_000, {
    en: 'The address must be at most 2000 characters.',
    fr: 'L’adresse doit avoir au plus 2000 caractères.',
  });
  try {
    return parseOutboundAddress(address, reach).href;
  } catch (error) {
    if (!(error instanceof AddressRefusedError)) throw error;
    throw exchangeError('bad_connection_setting', { problem: error.words }, { cause: error });
  }
}

function require(good: boolean, problem: Words): void {
  if (!good) throw exchangeError('bad_connection_setting', { problem });
}
