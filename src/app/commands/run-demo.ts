/** Serves with a demo organisation, made on first start. Contract: CMD-19. */
import { writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findShowcase } from '../../../tools/demo/demo.store.ts';
import { type DemoExchange, openDemoExchange } from '../../../tools/demo/demo-exchange.ts';
import {
  DEMO_TIME_ZONE,
  demoIdentity,
  makeDemoOrganisation,
  makeDemoSystems,
} from '../../../tools/demo/demo-organisation.ts';
import { type DemoFacts, demoPage } from '../../../tools/demo/demo-page.ts';
import { enqueuePatientChanges } from '../../exchange/queue/enqueue-patient-changes.ts';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import { type Pool, type Queryable, transaction, withPool } from '../../platform/db/database.ts';
import { SERVICE_ROLE, withClient } from '../../platform/db/migrate.ts';
import { importPaths } from '../../records/import/import-paths.ts';
import { consoleAddress } from '../../sign-in/console/console-address.ts';
import { createPasswords } from '../../sign-in/credentials/password.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { baseUrlOf, type Config, loadConfig, localBaseUrlOf } from '../config/config.ts';
import { runningProcesses } from '../doctor/check-server.ts';
import { openKeys, requireSchema, withDatabase } from '../runtime/open-database.ts';
import { type ServeOptions, serve, withFreePort } from '../serving/serve.ts';
import { readServiceAddress } from '../serving/service-address.store.ts';

const RECORDS = fileURLToPath(new URL('../../../demo/records', import.meta.url));

/** What stays open while the demo runs: its exchange uses them. */
interface DemoSession {
  db: Pool;
  keys: KeyRing;
  config: Config;
}

export interface DemoOptions extends Pick<ServeOptions, 'addressNames'> {
  json?: boolean;
}

/** Prints the page of what to try; with `json` its facts as one document. */
export async function runDemo(env: NodeJS.ProcessEnv, options: DemoOptions = {}): Promise<void> {
  const config = await withFreePort(loadConfig(env), options.addressNames);
  if (options.json !== true) process.stdout.write('Starting the database and the demo organisation …\n');
  await withDatabase(config, async (opened) => {
    await requireSchema(opened, config);
    await withClient(opened.url, noteOthers);
    const { keys } = await openKeys(opened, config);
    const pool = { url: opened.url, max: 3, applicationName: 'interchange demo', role: SERVICE_ROLE };
    await withPool(pool, (db) => prepareAndServe({ db, keys, config }, env, options)).finally(keys.close);
  });
  if (options.json !== true) sayWhileStopping('Stopped.\n');
}

/** Who starts twice may not mean to: nothing else says why commands print another address than they did. */
async function noteOthers(owner: Queryable): Promise<void> {
  if ((await runningProcesses(owner)) === 0) return;
  const address = await readServiceAddress(owner);
  process.stderr.write(
    `note: The service runs on this data already${address === undefined ? '' : `, started last at ${address}`}. If this one starts, both serve the same records, and commands print the address of this one. To have them print another one, set PUBLIC_BASE_URL.\n`,
  );
}

async function prepareAndServe(
  session: DemoSession,
  env: NodeJS.ProcessEnv,
  { json = false, ...names }: DemoOptions,
): Promise<void> {
  // Another demo may begin on the same data at this moment.
  const { demo, exchange } = await transaction(session.db, async (lock) => {
    await lock.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.demo]);
    return prepare(session);
  });
  try {
    await serve({
      role: 'all',
      processes: 1,
      ...names,
      // The page is what the reader is here for; problems still show.
      env: { ...env, PORT: String(session.config.port), LOG_LEVEL: env.LOG_LEVEL ?? 'warn' },
      // stdout has the document alone.
      ...(json ? { logTo: process.stderr } : {}),
      onReady(publicBaseUrl) {
        const facts = { publicBaseUrl, console: consoleAddress(publicBaseUrl), ...demo };
        process.stdout.write(
          json ? `${JSON.stringify(facts, null, 2)}\n` : demoPage(facts, localBaseUrlOf(session.config)),
        );
      },
      onStopping() {
        if (!json)
          sayWhileStopping(
            '\nStopping: the calls in progress are finished first. Ctrl-C again stops at once.\n',
          );
      },
    });
  } finally {
    exchange.close();
  }
}

/** The Ctrl-C that stops this may have ended whoever reads the output, such as `tee`. That is no reason to stop at once. */
function sayWhileStopping(text: string): void {
  try {
    writeSync(process.stdout.fd, text);
  } catch {
    // Nobody is left to tell.
  }
}

interface Prepared {
  demo: Omit<DemoFacts, 'publicBaseUrl' | 'console'>;
  exchange: DemoExchange;
}

async function prepare({ db, keys, config }: DemoSession): Promise<Prepared> {
  const identity = await demoIdentity(db, config.dataDir);
  const accounts = { db, passwords: createPasswords(config.signIn), publicBaseUrl: '' };
  const userId = await makeDemoOrganisation(accounts, identity, new Date());
  const kept = await findShowcase(db, identity);
  const isFirstStart = kept === undefined;
  if (isFirstStart) await makeDemoSystems(accounts, identity, new Date());
  // Before the records, so that they are delivered.
  const exchange = await openDemoExchange(
    { db, keys, publicBaseUrl: baseUrlOf(config), now: () => new Date() },
    { ...identity, isFirstStart },
  );
  try {
    if (isFirstStart) await importDemoRecords(db, { ...identity, timeZone: DEMO_TIME_ZONE });
    const showcase = kept ?? (await findShowcase(db, identity));
    if (showcase === undefined)
      throw new Error(
        'The demo records in the database are incomplete. Stop the demo, remove its data folder and start it again.',
      );
    return { demo: { dataDir: config.dataDir, ...identity, userId, ...showcase }, exchange };
  } catch (error) {
    exchange.close();
    throw error;
  }
}

async function importDemoRecords(db: Pool, scope: FacilityScope): Promise<void> {
  const { rejected } = await importPaths(
    { db, onPatientsChanged: enqueuePatientChanges },
    { scope, paths: [RECORDS], stdin: process.stdin },
  );
  const [first] = rejected;
  if (first !== undefined)
    throw new Error(`The demo records could not be imported: ${first.file}: ${first.reason}`);
}
