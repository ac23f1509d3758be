/** `interchange connection rotate-secret` */
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../platform/command/command.ts';
import { requireConnection, unknownConnection } from './named-connection.ts';
import { DEFAULT_OVERLAP_SECONDS, rotateSecret } from './rotate-secret.ts';

export function rotateSecretCommand(environment: CommandEnvironment): Command {
  return new Command('rotate-secret')
    .description('give a connection new secrets; the old ones stay good for an overlap')
    .requiredOption('--id <id>', 'connection')
    .option('--direction <direction>', 'outbound or callback (default: both)')
    .option(
      '--overlap-hours <hours>',
      'for how long the old secrets stay good',
      String(DEFAULT_OVERLAP_SECONDS / 3_600),
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange connection rotate-secret --id 7f0c… --overlap-hours 48',
    )
    .action(
      async ({ id, direction, overlapHours }: { id: string; direction?: string; overlapHours: string }) => {
        if (direction !== undefined && direction !== 'outbound' && direction !== 'callback')
          throw new UsageError('--direction must be outbound or callback.');
        const hours = Number(overlapHours);
        if (!(hours >= 0 && hours <= 2_160))
          throw new UsageError('--overlap-hours must be a number from 0 to 2160.');
        const rotation = {
          overlapSeconds: Math.round(hours * 3_600),
          ...(direction === undefined ? {} : { direction }),
        };
        const rotated = await environment.withSession(async (session) => {
          const key = await requireConnection(session, id);
          return rotateSecret(
            { ...session, now: environment.now() },
            key,
            rotation as Parameters<typeof rotateSecret>[2],
          );
        });
        if (rotated === undefined) throw unknownConnection(id);
        const lines = [
          rotated.outboundSecret === undefined ? '' : `outbound secret  ${rotated.outboundSecret}\n`,
          rotated.callbackSecret === undefined ? '' : `callback secret  ${rotated.callbackSecret}\n`,
          `The old ones are good until ${rotated.oldGoodUntil}.`,
          rotated.outboundSecret === undefined ? '' : ' Requests are signed with the new one from now on.',
        ];
        environment.print(rotated, lines.join(''));
      },
    );
}
