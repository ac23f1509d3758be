/** Settings of a connection at the command line. */
import type { Command } from 'commander';
import { PURPOSES_OF_USE, type PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import { splitList } from '../../platform/command/split-list.ts';
import { definedMembers } from '../../platform/defined-members.ts';
import { exchangeError } from '../errors.ts';
import type { ConnectionSettings } from './connection.schema.ts';
import { BY_OPERATOR, checkSettings } from './connection.ts';

/** Settings of a connection as they are given at the command line. */
export interface SettingOptions {
  name?: string;
  address?: string;
  clientId?: string;
  callbackHeader?: string;
  identifierSystem?: string;
  purposeOfUse?: string;
  maxInFlight?: string;
  timeoutMs?: string;
  facility?: string[];
}

/** Add the options of settings to a command. One that creates needs some, and has defaults for the others. */
export function withSettings(command: Command, { creating }: { creating: boolean }): Command {
  const needed = (flags: string, text: string) =>
    creating ? command.requiredOption(flags, text) : command.option(flags, text);
  const defaultsTo = (value: string) => (creating ? ` (default: ${value})` : '');
  needed('--name <name>', 'name that people use for the connection');
  needed('--address <url>', 'address that deliveries are posted to: https, or http to this machine');
  needed('--client-id <id>', 'id of this service at the exchange');
  return command
    .option(
      '--facility <ids>',
      `facilities whose patients are delivered, separated by commas${creating ? ' (default: all, also later ones)' : '; replaces those of before, so name all of them'}`,
      splitList,
    )
    .option(
      '--callback-header <name>',
      `header that carries the signature of callbacks${defaultsTo('x-signature')}`,
    )
    .option(
      '--identifier-system <uri>',
      `system of the ids that the exchange assigns${defaultsTo('urn:uuid:<connection>')}`,
    )
    .option('--purpose-of-use <purpose>', `purpose of the deliveries in the access log${defaultsTo('OPS')}`)
    .option(
      '--max-in-flight <n>',
      `requests that one worker process sends at the same time${defaultsTo('16')}`,
    )
    .option('--timeout-ms <ms>', `how long to wait for an answer, in milliseconds${defaultsTo('10000')}`);
}

/** The settings given, checked. */
export function givenSettings(options: SettingOptions): Partial<ConnectionSettings> {
  const { name, address, clientId, callbackHeader, identifierSystem, purposeOfUse } = options;
  if (purposeOfUse !== undefined && !isPurpose(purposeOfUse))
    throw exchangeError('bad_option', {
      problem: '--purpose-of-use must be TREATMENT, PAYMENT, OPS or RESEARCH.',
    });
  // Such as a variable of the shell that was not set: the connection would cover no facility, and deliver nothing.
  if (options.facility?.length === 0)
    throw exchangeError('bad_option', {
      problem: '--facility is empty. Give one id, or several separated by commas.',
    });
  const settings = definedMembers({
    name,
    address,
    clientId,
    callbackHeader,
    identifierSystem,
    purposeOfUse,
    maxInFlight: numberOf(options.maxInFlight),
    timeoutMs: numberOf(options.timeoutMs),
    facilityIds: options.facility,
  });
  return checkSettings(settings, BY_OPERATOR.reach);
}

function isPurpose(text: string): text is PurposeOfUse {
  return (PURPOSES_OF_USE as readonly string[]).includes(text);
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
