/** `interchange scale-out`. Contract: CMD-23, OPS-27. */
import { Command, Option } from 'commander';
import { type CommandEnvironment, CommandError } from '../../platform/command/command.ts';
import { type Client, withPool } from '../../platform/db/database.ts';
import { loadConfig } from '../config/config.ts';
import { withDatabase } from '../runtime/open-database.ts';
import { wordsOf } from './compare-placement.ts';
import {
  checkPlacement,
  countPlanned,
  lockPlacement,
  type PlacementCheck,
  planScaleOut,
  refuseWhileServiceRuns,
  runPlan,
} from './scale-out.ts';

const HELP = `
Citus must be on every node, and its workers known to the coordinator, which DATABASE_URL names: docs/scaling.md.
Stop the service first: tables are locked for writing while they move, and calls fail until the last one has moved.
A run that was interrupted loses nothing. Run it again, and it goes on where it stopped.

Example:
  npx interchange scale-out --dry-run
  npx interchange scale-out
  npx interchange scale-out --check`;

export function scaleOutCommand(environment: CommandEnvironment): Command {
  return new Command('scale-out')
    .description('move the tables to the nodes of a Citus cluster, the rows of one organisation together')
    .option('--dry-run', 'show which tables would move, with their rows, and move none')
    .addOption(
      new Option(
        '--check',
        'compare the cluster with where tables belong; exit code 1 if they differ',
      ).conflicts('dryRun'),
    )
    .addHelpText('after', HELP)
    .action(async ({ dryRun = false, check = false }: { dryRun?: boolean; check?: boolean }) => {
      await withOwner(environment, async (client) => {
        if (check) return printCheck(environment, await checkPlacement(client));
        if (dryRun) return printPlan(environment, client);
        return run(environment, client);
      });
    });
}

async function withOwner(
  { env }: CommandEnvironment,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const config = loadConfig(env);
  if (config.database.kind === 'embedded')
    throw new CommandError(
      'The embedded PostgreSQL cannot be distributed. Set DATABASE_URL to the coordinator of a Citus cluster.',
    );
  await withDatabase(config, ({ url }) =>
    withPool({ url, max: 1, applicationName: 'interchange scale-out' }, async (pool) => {
      const client = await pool.connect();
      await work(client).finally(() => client.release(true));
    }),
  );
}

async function run(environment: CommandEnvironment, client: Client): Promise<void> {
  const note = (line: string) => environment.stderr.write(`${line}\n`);
  await lockPlacement(client, () =>
    note('Another scale-out or migration is running. Waiting for it to end.'),
  );
  const plan = await planScaleOut(client);
  const total = plan.missing.length;
  if (total > 0) await refuseWhileServiceRuns(client);
  if (plan.placed > 0 && total > 0)
    note(`${plan.placed} tables were placed before. Going on with the other ${total}.`);
  await runPlan(client, plan, ({ table, placement, sizeBytes }, position) =>
    note(`[${position} of ${total}] ${table}, ${sizeInWords(sizeBytes)}: ${wordsOf(placement)}`),
  );
  const placed = plan.missing.map(({ table, placement }) => ({ table, placement }));
  environment.print(
    { dryRun: false, placed, placedBefore: plan.placed },
    total === 0
      ? `Nothing to do: all ${plan.placed} tables are where they belong.`
      : [`Placed ${total} ${total === 1 ? 'table' : 'tables'}. What to do next:`, ...NEXT].join('\n'),
  );
}

const NEXT = [
  '  1. Collect statistics, or wait for autovacuum: analyze;',
  '  2. Start the service.',
  '  3. Have your monitoring run: npx interchange scale-out --check',
  '  4. Back up every node, not only the coordinator: docs/scaling.md',
];

async function printPlan(environment: CommandEnvironment, client: Client): Promise<void> {
  const plan = await planScaleOut(client);
  const tables = await countPlanned(client, plan);
  const lines = tables.map(
    ({ table, placement, rows, sizeBytes }) =>
      `${String(rows).padStart(12)} rows ${sizeInWords(sizeBytes).padStart(10)}  ${table}: ${wordsOf(placement)}`,
  );
  environment.print(
    { dryRun: true, tables, placedBefore: plan.placed },
    tables.length === 0
      ? `Nothing to do: all ${plan.placed} tables are where they belong.`
      : ['Would be placed, in this order:', ...lines].join('\n'),
  );
}

function printCheck(environment: CommandEnvironment, { problems, differences }: PlacementCheck): void {
  const ok = problems.length === 0 && differences.length === 0;
  const lines = differences.map(
    ({ table, expected, actual }) => `  ${table}: ${actual}; should be ${expected}`,
  );
  environment.print(
    { ok, problems, differences },
    ok
      ? 'Every table is where it belongs, and every node can be reached.'
      : [
          ...problems,
          ...(lines.length === 0 ? [] : ['Tables that are not where they belong:', ...lines]),
          ...(lines.length === 0 || problems.length > 0
            ? []
            : ['To place them, run: npx interchange scale-out']),
        ].join('\n'),
  );
  if (!ok) environment.fail('The check found faults. The output says which.');
}

function sizeInWords(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, bytes === 0 ? 0 : Math.floor(Math.log(bytes) / Math.log(1000)));
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`;
}
