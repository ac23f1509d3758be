/** Options that the server commands share, and how a FHIR server is shown. */
import { Command, InvalidArgumentError } from 'commander';
import { definedMembers } from '../../platform/defined-members.ts';
import { publishError } from '../errors.ts';
import {
  AUTHENTICATIONS,
  DEFAULT_SETTINGS,
  type FhirServer,
  type FhirServerSettings,
  ID_POLICIES,
  REFERENCE_POLICIES,
} from './fhir-server.ts';
import type { FhirServerName } from './manage-fhir-servers.ts';

export interface NameOptions {
  name: string;
  organisation?: string;
}

export interface ServerSettingOptions {
  base?: string;
  auth?: string;
  header?: string;
  user?: string;
  secretStdin?: boolean;
  idPolicy?: string;
  references?: string;
  allowLocalCodes?: boolean;
  contentType?: string;
  timeoutMs?: number;
  maxInFlight?: number;
  default?: boolean;
}

export function namedCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--name <name>', 'name of the target')
    .option(
      '--organisation <id>',
      'organisation that the target belongs to (default: all organisations use it)',
    );
}

/** Add the options of settings to a command. One that creates has defaults for those that are not given. */
export function withSettingOptions(command: Command, { creating }: { creating: boolean }): Command {
  const defaultsTo = (value: string | number) => (creating ? ` (default: ${value})` : '');
  const { idPolicy, referencePolicy, contentType, timeoutMs, maxInFlight } = DEFAULT_SETTINGS;
  return command
    .option('--header <name>', 'header that carries the API key, such as x-api-key')
    .option('--user <user>', 'user name for basic authentication')
    .option('--secret-stdin', 'read the token, password or key from standard input')
    .option(
      '--id-policy <policy>',
      `client: resources keep our ids; server: the target assigns ids${defaultsTo(idPolicy)}`,
    )
    .option(
      '--references <policy>',
      `how to refer to patients and other records: literal, logical or send${defaultsTo(referencePolicy)}`,
    )
    .option('--allow-local-codes', 'publish codes that no terminology map covers')
    .option('--content-type <type>', `application/json or application/fhir+json${defaultsTo(contentType)}`)
    .option(
      '--timeout-ms <ms>',
      `how long to wait for the answer to a request, in milliseconds${defaultsTo(timeoutMs)}`,
      wholeNumber,
    )
    .option(
      '--max-in-flight <n>',
      `requests that one process sends at the same time${defaultsTo(maxInFlight)}`,
      wholeNumber,
    )
    .option('--default', 'use this target when a call names none');
}

export function serverNameOf({ name, organisation }: NameOptions): FhirServerName {
  return { name, organisationId: organisation ?? null };
}

/** The settings that were given. Throws `bad_target_setting` for a value that is not one of the choices. */
export function serverSettingsOf(options: ServerSettingOptions): Partial<FhirServerSettings> {
  const { base, auth, header, user, idPolicy, references, allowLocalCodes, contentType } = options;
  return definedMembers({
    base,
    auth: choice('--auth', AUTHENTICATIONS, auth),
    authHeader: header,
    authUser: user,
    idPolicy: choice('--id-policy', ID_POLICIES, idPolicy),
    referencePolicy: choice('--references', REFERENCE_POLICIES, references),
    allowLocalCodes,
    contentType,
    timeoutMs: options.timeoutMs,
    maxInFlight: options.maxInFlight,
  });
}

/** Without anything secret. */
export function targetDocument(server: FhirServer) {
  return {
    id: server.id,
    name: server.name,
    organisationId: server.organisationId,
    base: server.base,
    auth: server.auth,
    header: server.authHeader,
    user: server.authUser,
    hasSecret: server.secret !== undefined,
    contentType: server.contentType,
    idPolicy: server.idPolicy,
    references: server.referencePolicy,
    allowLocalCodes: server.allowLocalCodes,
    timeoutMs: server.timeoutMs,
    maxInFlight: server.maxInFlight,
    default: server.isDefault,
    enabled: server.enabled,
    createdAt: server.createdAt.toISOString(),
  };
}

export function targetText(server: FhirServer): string {
  const marks = [server.isDefault ? 'default' : '', server.enabled ? '' : 'disabled'].filter(Boolean);
  const whose = server.organisationId ?? 'all organisations';
  return [
    `${server.name}  ${server.base}${marks.length > 0 ? `  (${marks.join(', ')})` : ''}`,
    `  of ${whose}; auth ${server.auth}, ids by ${server.idPolicy}, references ${server.referencePolicy}` +
      `${server.allowLocalCodes ? ', local codes allowed' : ''}`,
  ].join('\n');
}

function choice<T extends string>(
  option: string,
  choices: readonly T[],
  text: string | undefined,
): T | undefined {
  if (text === undefined) return undefined;
  const chosen = choices.find((one) => one === text);
  if (chosen === undefined)
    throw publishError('bad_target_setting', { problem: `${option} must be one of ${choices.join(', ')}.` });
  return chosen;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}
