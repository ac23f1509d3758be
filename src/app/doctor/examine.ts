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
import { checkDataFolder, checkDisk } from './check-disk.ts';
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

/** What checks look at. `owner` acts as the owner of the schema. */
interface Examined {
  config: Config;
  owner: Pool;
  url: string;
  now: () => Date;
  /** How many processes of the service run. */
  processes: number;
}

/** In the order in which they run and are shown. What stands after `schema` reads its tables. */
const CHECKS: Readonly<Record<string, (on: Examined) => Promise<CheckResult>>> = {
  'service user': ({ owner, config }) => checkServiceUser(owner, config),
  clock: ({ owner, now, config }) => checkClock(owner, now, config.clockMaxSkewSeconds),
  connections: ({ owner, config }) => checkConnections(owner, config),
  pooler: ({ owner }) => checkPooler(owner),
  notifications: ({ owner }) => checkNotifications(owner),
  disk: ({ owner, config }) => checkDisk(owner, config),
  'data folder': ({ config }) => checkDataFolder(config),
  schema: ({ owner }) => checkSchema(owner),
  role: ({ owner }) => checkRole(owner),
  placement: ({ owner }) => checkTables(owner),
  restore: ({ owner }) => checkMark(owner),
  'master key': ({ owner, url, config }) => checkMasterKey(owner, url, masterKeySource(config)),
  address: ({ owner, config, processes }) => checkAddress(owner, config, processes > 0),
  retention: ({ owner, config }) => checkRetention(owner, config),
  'access log': ({ owner }) => checkMonths(owner),
  deliveries: ({ owner }) => checkDeliveries(owner),
};

export interface Examination {
  findings: Finding[];
  /** How many processes of the service run; null where that could not be told. */
  processes: number | null;
}

export async function examine(env: NodeJS.ProcessEnv, now: () => Date): Promise<Examination> {
  const found = new Map<string, CheckResult>();
  const note = (name: string, finding: CheckResult) => found.set(name, finding);
  const config = readConfig(env, note);
  const processes = config === undefined ? null : await examineDatabase(config, now, note);
  const reason = [...found].findLast(([, { outcome }]) => outcome === 'failed')?.[0];
  const findings = ['settings', 'database', ...Object.keys(CHECKS)].map((name): Finding => {
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

type Note = (name: string, finding: CheckResult) => void;

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

async function runChecks(on: Examined, note: Note): Promise<void> {
  for (const [name, check] of Object.entries(CHECKS)) {
    const finding = await check(on).catch((error: unknown) =>
      failedBy(error, 'The check did not come to an end: ', 'Mend that, then run the doctor again.'),
    );
    note(name, finding);
    if (name === 'schema' && finding.outcome === 'failed') return;
  }
}
