/** `interchange connection rotate-secret` and `activate-secret`. Contract: EXC-46, CMD-13. */
import { Command, Option } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { parsedTime } from '../review/delivery-selection.ts';
import type { RotatedSecrets } from './connection.schema.ts';
import type { SecretDirection } from './connection-secret.store.ts';
import { printConnection, requireConnection } from './named-connection.ts';
import {
  activateSecret,
  DEFAULT_OVERLAP_SECONDS,
  rotateSecret,
  type SecretRotation,
} from './rotate-secret.ts';

interface Options {
  id: string;
  direction?: SecretDirection;
  overlapHours: string;
  activateAt?: string;
  activateNow?: true;
}

export function rotateSecretCommand(environment: CommandEnvironment): Command {
  return new Command('rotate-secret')
    .description('give a connection new secrets; the old ones work until the exchange has the new ones')
    .requiredOption('--id <id>', 'connection')
    .addOption(
      new Option('--direction <direction>', 'rotate only this secret (default: both)').choices([
        'outbound',
        'callback',
      ]),
    )
    .option(
      '--overlap-hours <hours>',
      'how many hours callbacks with the old secret are accepted; 0 ends both old secrets at once',
      String(DEFAULT_OVERLAP_SECONDS / 3_600),
    )
    .option(
      '--activate-at <time>',
      'when the new outbound secret begins to sign (default: when you activate it)',
    )
    .option('--activate-now', 'sign with the new outbound secret at once, for example after a leak')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange connection rotate-secret --id 7f0c… --activate-at 2026-03-01T08:00:00Z',
    )
    .action(async (options: Options) => {
      const { id } = options;
      const rotation = rotationOf(options);
      const rotated = await environment.withSession(async (session) => {
        const key = await requireConnection(session, id);
        return rotateSecret({ ...session, now: environment.now() }, key, rotation);
      });
      environment.print(rotated, rotatedText(rotated));
    });
}

function rotationOf({ direction, overlapHours, activateAt, activateNow }: Options): SecretRotation {
  const hours = Number(overlapHours);
  if (!/^\d+(\.\d+)?$/.test(overlapHours) || hours > 2_160)
    throw new UsageError('--overlap-hours must be a number from 0 to 2160.');
  if (activateAt !== undefined && activateNow)
    throw new UsageError('Give --activate-at or --activate-now, not both.');
  const activate = activateNow ? 'now' : parsedTime('--activate-at', activateAt);
  return {
    overlapSeconds: Math.round(hours * 3_600),
    ...(direction === undefined ? {} : { direction }),
    ...(activate === undefined ? {} : { activate }),
  };
}

function rotatedText(rotated: RotatedSecrets): string {
  const { id, outboundSecret, callbackSecret, oldGoodUntil, discardedWaiting } = rotated;
  const lines: string[] = [];
  if (outboundSecret !== undefined) lines.push(`outbound secret  ${outboundSecret}`);
  if (callbackSecret !== undefined) lines.push(`callback secret  ${callbackSecret}`);
  lines.push('Store them now: they are not shown again.');
  if (discardedWaiting)
    lines.push(
      'An earlier new outbound secret was waiting to be activated. It was deleted, and was never used.',
    );
  if (outboundSecret !== undefined) lines.push(...outboundText(id, rotated.outboundActiveFrom ?? null));
  if (callbackSecret !== undefined)
    lines.push(`Callbacks: the new secret is accepted from now on, the old one until ${oldGoodUntil}.`);
  return lines.join('\n');
}

function outboundText(id: string, activeFrom: string | null): string[] {
  if (activeFrom === null)
    return [
      'Requests: the old secret signs them until you activate the new one. Give the new one to the exchange first. Then run:',
      `  npx interchange connection activate-secret --id ${id}`,
    ];
  return [`Requests: signed with the new secret from ${activeFrom} on. The exchange must have it by then.`];
}

export function activateSecretCommand(environment: CommandEnvironment): Command {
  return new Command('activate-secret')
    .description('begin to sign with the new outbound secret of a rotation')
    .requiredOption('--id <id>', 'connection')
    .addHelpText('after', '\nExample:\n  npx interchange connection activate-secret --id 7f0c…')
    .action(async ({ id }: { id: string }) => {
      await environment.withSession(async (session) => {
        const key = await requireConnection(session, id);
        await activateSecret(session.db, key);
        await printConnection(environment, session, key);
      });
    });
}
