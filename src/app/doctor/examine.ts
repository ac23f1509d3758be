/** Runs every check of the doctor, as far as what it needs is there. Contract: CMD-24. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Pool, withPool } from '../../platform/db/database.ts';
import { failureOf } from '../commands/failure-text.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { ConfigError } from '../config/environment.ts';
import { masterKeySource } from '../config/master-key.ts';
import { openServer } from '../runtime/open-database.ts';
import { checkAddress } from './check-address.ts';
import { checkDatabase } from './check-database.ts';
import { checkDisk } from './check-disk.ts';
import { checkMasterKey } from './check-keys.ts';
import { checkMark, checkRole, checkSchema, checkServiceUser, checkTables } from './check-schema.ts';
import {
  checkClock,
  checkConnections,
  checkNotifications,
  checkPooler,
  runningProcesses,
} from './check-server.ts';
import { checkDeliveries, checkMonths, checkRetention } from './check-upkeep.ts';
import { type CheckResult, type Finding, failed, ok } from './finding.ts';

/** In the order in which they are shown. What stands after `schema` reads its tables. */
const NAMES = [
  'settings',
  'database',
  'service user',
  'clock',
  'connections',
  'pooler',
  'notifications',
  'disk',
  'schema',
  'role',
  'placement',
  'restore',
  'master key',
  'address',
  'retention',
  'access log',
  'deliveries',
] as const;
type Name = (typeof NAMES)[number];

/** What checks look at. `owner` acts as the owner of the schema. */
interface Examined {
  config: Config;
  owner: Pool;
  url: string;
  now: () => Date;
  /** How many processes of the service run. */
  processes: number;
}

export interface Examination {
  findings: Finding[];
  /** How many processes of the service run; null where that could not be told. */
  processes: number | null;
}

export async function examine(env: NodeJS.ProcessEnv, now: () => Date): Promise<Examination> {
  const found = new Map<Name, CheckResult>();
  const note = (name: Name, finding: CheckResult) => found.set(name, finding);
  const config = readConfig(env, note);
  const processes = config === undefined ? null : await examineDatabase(config, now, note);
  const reason = [...found].findLast(([, { outcome }]) => outcome === 'failed')?.[0];
  const findings = NAMES.map((name): Finding => {
    const text = `It was left out, because "${reason}" failed.`;
    return { check: name, ...(found.get(name) ?? { outcome: 'not run', text }) };
  });
  return { findings, processes };
}

/** The remedy is that of the reason, where it brings one. */
function failedBy(error: unknown, introduction: string, otherwise: string): CheckResult {
  if (error instanceof ConfigError) return failed(`${error.faults.join('. ')}.`, otherwise);
  const { text, remedy = otherwise } = failureOf(error);
  return failed(`${introduction}${text}`, remedy);
}

type Note = (name: Name, finding: CheckResult) => void;

function readConfig(env: NodeJS.ProcessEnv, note: Note): Config | undefined {
  try {
    const config = loadConfig(env);
    note('settings', ok('The environment variables are valid.'));
    return config;
  } catch (error) {
    note('settings', failedBy(error, '', 'Correct them: docs/environment.md lists every variable.'));
    return undefined;
  }
}

/** Returns how many processes run. */
async function examineDatabase(config: Config, now: () => Date, note: Note): Promise<number | null> {
  const { dataDir } = config;
  if (config.database.kind === 'embedded' && !existsSync(join(dataDir, 'postgresql'))) {
    note(
      'database',
      failed(
        `There is no database in ${dataDir} yet.`,
        'Set DATA_DIR or DATABASE_URL to the one that you mean, or start the service once: npx interchange serve',
      ),
    );
    return null;
  }
  try {
    return await withOwner(config, async (owner, url) => {
      note('database', await checkDatabase(owner, url));
      const processes = await runningProcesses(owner);
      await runChecks({ config, owner, url, now, processes }, note);
      return processes;
    });
  } catch (error) {
    const remedy =
      config.database.kind === 'url'
        ? 'Start PostgreSQL, or correct DATABASE_URL.'
        : `Look at the end of ${join(dataDir, 'postgresql', 'server.log')}.`;
    note('database', failedBy(error, 'The database cannot be used: ', remedy));
    return null;
  }
}

async function withOwner<T>(config: Config, work: (owner: Pool, url: string) => Promise<T>): Promise<T> {
  const { url, release } = await openServer(config);
  const limits = config.timeLimits.background;
  const pool = { url, max: 2, applicationName: 'interchange doctor', limits };
  return withPool(pool, (owner) => work(owner, url)).finally(release);
}

async function runChecks({ config, owner, url, now, processes }: Examined, note: Note): Promise<void> {
  const check = async (name: Name, run: () => Promise<CheckResult>): Promise<CheckResult> => {
    const finding = await run().catch((error: unknown) =>
      failedBy(error, 'The check did not come to an end: ', 'Mend that, then run the doctor again.'),
    );
    note(name, finding);
    return finding;
  };
  await check('service user', () => checkServiceUser(owner, config));
  await check('clock', () => checkClock(owner, now, config.clockMaxSkewSeconds));
  await check('connections', () => checkConnections(owner, config));
  await check('pooler', () => checkPooler(owner));
  await check('notifications', () => checkNotifications(owner));
  await check('disk', () => checkDisk(owner, config));
  if ((await check('schema', () => checkSchema(owner))).outcome === 'failed') return;
  await check('role', () => checkRole(owner));
  await check('placement', () => checkTables(owner));
  await check('restore', () => checkMark(owner));
  await check('master key', () => checkMasterKey(owner, url, masterKeySource(config)));
  await check('address', () => checkAddress(owner, config, processes > 0));
  await check('retention', () => checkRetention(owner, config));
  await check('access log', () => checkMonths(owner));
  await check('deliveries', () => checkDeliveries(owner));
}
