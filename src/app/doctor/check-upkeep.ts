/** Checks of what the worker does in the background: retention, months of the access log, deliveries. */
import { type QueueState, queueStates } from '../../exchange/queue/queue-state.store.ts';
import { oneRow, type Queryable } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { listOrganisations } from '../../tenancy/organisations/organisation.store.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { runRetention } from '../../tenancy/organisations/retention.ts';
import { retentionRules } from '../commands/retention.ts';
import type { Config } from '../config/config.ts';
import { type CheckResult, counted, notRun, ok, warning } from './finding.ts';

/** The worker removes once a day, so what is older than this was missed. */
const LATE_DAYS = 2;
const WORKER = 'Start a process with a worker: npx interchange serve';
/** As the alert InterchangeDeliveriesOld. */
const OLD_SECONDS = 900;

export async function checkRetention(owner: Queryable, config: Config): Promise<CheckResult> {
  const { recovers } = await oneRow<{ recovers: boolean }>(owner, {
    text: 'select pg_is_in_recovery() as recovers',
  });
  // It keeps no unlogged table, so what killed imports have left cannot be counted there.
  if (recovers) return notRun('It was left out, because the database is a standby.');
  const rules = retentionRules(config)
    .filter(({ days }) => days > 0)
    .map((rule) => ({ ...rule, days: rule.days + LATE_DAYS }));
  const watch = createWorkWatch();
  const work = watch.of('retention');
  const late = Object.entries(await runRetention({ db: owner, work }, rules, { dryRun: true }));
  const [refused] = watch.failing().get(work.name) ?? [];
  if (refused !== undefined)
    return warning(
      `What is overdue could not be counted: the database refused organisation ${refused}.`,
      'The log of the database says why.',
    );
  if (late.length === 0) return ok('Nothing is kept longer than it should be.');
  return warning(
    `Overdue by more than ${LATE_DAYS} days: ${late.map(([name, count]) => `${count} ${name}`).join(', ')}.`,
    'Is a worker running? Remove them now with: npx interchange retention run',
  );
}

export async function checkMonths(owner: Queryable): Promise<CheckResult> {
  const now = await readDatabaseTime(owner);
  const months = [0, 1].map((ahead) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead)).toISOString().slice(0, 7),
  );
  const { missing, misplaced } = await oneRow<{ missing: string[]; misplaced: boolean }>(owner, {
    text: `
      select
        array(
          select month
          from unnest($1::text[]) as month
          where to_regclass('access_log_' || replace(month, '-', '_')) is null
        ) as missing,
        exists (select from access_log_default) as misplaced`,
    values: [months],
  });
  if (missing.length > 0)
    return warning(
      `The access log has no partition for ${missing.join(' and ')}. Entries are kept all the same, but reading them is slower.`,
      WORKER,
    );
  if (misplaced)
    return warning(
      'Entries of the access log lie outside the partitions of their months. They are kept, but archiving their months has to move them.',
      'Correct the clock, if it was wrong. Months that are made later take their entries along.',
    );
  return ok('The access log has its partitions for this month and the next.');
}

export async function checkDeliveries(owner: Queryable): Promise<CheckResult> {
  const states: QueueState[] = [];
  for (const { id } of await listOrganisations(owner))
    states.push(...(await queueStates(owner, { organisationId: id })));
  const open = states.filter(({ breakerOpen }) => breakerOpen);
  const held = states.reduce((sum, state) => sum + state.held, 0);
  const oldest = Math.max(0, ...states.map(({ oldestSeconds }) => oldestSeconds));
  if (open[0] !== undefined)
    return warning(
      `${counted(open.length, 'exchange')} considered down: connection ${open[0].connectionId}${open.length > 1 ? ' and others' : ''}. Deliveries wait.`,
      'Ask the operator of the exchange. Nothing is lost, and deliveries go on by themselves.',
    );
  if (held > 0)
    return warning(
      `${counted(held, 'delivery', 'deliveries')} held, and what is behind in the same lanes waits.`,
      'See why with: npx interchange delivery list --status held. Then replay or skip them.',
    );
  if (oldest > OLD_SECONDS)
    return warning(
      `A delivery has waited for ${Math.round(oldest / 60)} minutes.`,
      `Is a worker running? ${WORKER}`,
    );
  return ok(`${counted(states.length, 'connection')}; none down, and nothing held.`);
}
