/** `interchange connection resync`. Contract: EXC-58. */
import { Command } from 'commander';
import {
  type CommandEnvironment,
  CommandError,
  type CommandSession,
} from '../../platform/command/command.ts';
import { progressLine } from '../../platform/command/progress-line.ts';
import { hearOneStopSignal, STOP_EXIT_CODES, type StopSignal } from '../../platform/command/stop-signals.ts';
import { type Resynced, resync } from '../queue/resync.ts';
import { readConnection } from './change-connection.ts';
import { requireConnection } from './named-connection.ts';

interface Options {
  id: string;
  dryRun?: boolean;
}

export function resyncCommand(environment: CommandEnvironment): Command {
  return new Command('resync')
    .description(
      'queue the patients who were there before the connection, or who changed while it was disabled or the exchange module off',
    )
    .requiredOption('--id <id>', 'connection')
    .option('--dry-run', 'show how many deliveries would be queued, and queue none')
    .addHelpText('after', '\nExample:\n  npx interchange connection resync --id 7f0c… --dry-run')
    .action(async (options: Options) => {
      const stop = new AbortController();
      let stoppedBy: StopSignal | undefined;
      const endHearing = hearOneStopSignal((signal) => {
        stoppedBy = signal;
        stop.abort();
      });
      const done = await environment
        .withSession((session) => resyncNamed(environment, session, { ...options, stop: stop.signal }))
        .finally(endHearing);
      const { dryRun = false } = options;
      const marked = stoppedBy === undefined ? done : { stopped: true, ...done };
      environment.print({ dryRun, ...marked }, textOf(done, dryRun));
      if (stoppedBy !== undefined)
        environment.fail(
          `${stoppedBy} stopped it. What was queued stays. To go on, run the same command again.`,
          STOP_EXIT_CODES[stoppedBy],
        );
    });
}

async function resyncNamed(
  environment: CommandEnvironment,
  session: CommandSession,
  { id, dryRun = false, stop }: Options & { stop: AbortSignal },
): Promise<Resynced> {
  const key = await requireConnection(session, id);
  const { name, enabled } = await readConnection(session.db, key, key.connectionId);
  if (!enabled)
    throw new CommandError(
      `The connection is disabled, so nothing was queued. Enable it first: npx interchange connection enable --id ${key.connectionId}`,
    );
  const progress = progressLine(environment);
  const onProgress = ({ patients, queued }: Resynced) =>
    progress.show(`${patients} patients looked at, ${queued} queued`);
  return resync(session.db, key, { name, dryRun, onProgress, stop }).finally(progress.end);
}

const OTHERS = ' Each of the others has a delivery that says the same already. It may be held, or skipped.';

function textOf({ patients, queued, closedFacilities }: Resynced, dryRun: boolean): string {
  const lines = [
    `${queued} of ${patients} patients ${dryRun ? 'would be' : 'were'} queued.${queued < patients ? OTHERS : ''}`,
    ...closedFacilities.map(
      ({ id, name }) => `${name} (${id}) was left out, because its exchange module is off.`,
    ),
  ];
  return lines.join('\n');
}

/** Said after a change of a connection, which delivers nothing by itself. */
export function resyncHint(id: string, who: string): string {
  return `Patients ${who} are delivered at their next change. To deliver them now: npx interchange connection resync --id ${id}`;
}
