/** Serves with a demo organisation, made on first start. Contract: CMD-19. */
import { fileURLToPath } from 'node:url';
import { findShowcase, type Showcase } from '../../../tools/demo/demo.store.ts';
import {
  DEMO_TIME_ZONE,
  type DemoIdentity,
  demoIdentity,
  makeDemoOrganisation,
} from '../../../tools/demo/demo-organisation.ts';
import { type DemoFacts, demoPage } from '../../../tools/demo/demo-page.ts';
import { createPool, type Pool } from '../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { createLog } from '../../platform/log/log.ts';
import { importPaths } from '../../records/import/import-paths.ts';
import { consoleAddress } from '../../sign-in/console/console-address.ts';
import { createPasswords } from '../../sign-in/credentials/password.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { type OpenDatabase, openDatabase, openKeys, requireSchema } from '../build-runtime.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { serve } from '../serve.ts';

const RECORDS = fileURLToPath(new URL('../../../demo/records', import.meta.url));

interface Demo {
  dataDir: string;
  identity: DemoIdentity;
  userId: string;
  showcase: Showcase;
}

/** Prints the page of what to try; with `json` its facts as one document. */
export async function runDemo(env: NodeJS.ProcessEnv, { json = false } = {}): Promise<void> {
  const config = loadConfig(env);
  if (!json) process.stdout.write('Starting the database and the demo organisation …\n');
  const opened = await openDatabase(config, createLog('silent'));
  try {
    await requireSchema(opened, config);
    await (await openKeys(opened, config)).keys.close();
    const demo = await prepare(config, opened);
    const textOf = json ? documentOf : pageOf;
    await serve({
      role: 'all',
      processes: 1,
      // The page is what the reader is here for; problems still show.
      env: { ...env, LOG_LEVEL: env.LOG_LEVEL ?? 'warn' },
      onReady: (publicBaseUrl) => void process.stdout.write(textOf(demo, publicBaseUrl)),
    });
  } finally {
    await opened.release();
  }
}

async function prepare(config: Config, opened: OpenDatabase): Promise<Demo> {
  const identity = await demoIdentity(config.dataDir);
  const db = createPool(
    { url: opened.url, max: 2, applicationName: 'interchange demo', role: SERVICE_ROLE },
    () => undefined,
  );
  try {
    const passwords = createPasswords(config.signIn);
    const userId = await makeDemoOrganisation({ db, passwords, publicBaseUrl: '' }, identity, new Date());
    const made = { dataDir: config.dataDir, identity, userId };
    const kept = await findShowcase(db, identity);
    if (kept !== undefined) return { ...made, showcase: kept };
    await importDemoRecords(db, { ...identity, timeZone: DEMO_TIME_ZONE });
    const showcase = await findShowcase(db, identity);
    if (showcase === undefined)
      throw new Error(
        'The demo records in the database are incomplete. Stop the demo, remove its data folder and start it again.',
      );
    return { ...made, showcase };
  } finally {
    await db.end();
  }
}

async function importDemoRecords(db: Pool, scope: FacilityScope): Promise<void> {
  const { rejected } = await importPaths({ db }, { scope, paths: [RECORDS], stdin: process.stdin });
  const [first] = rejected;
  if (first !== undefined)
    throw new Error(`The demo records could not be imported: ${first.file}: ${first.reason}`);
}

function pageOf(demo: Demo, publicBaseUrl: string): string {
  return demoPage(factsOf(demo, publicBaseUrl));
}

function documentOf(demo: Demo, publicBaseUrl: string): string {
  return `${JSON.stringify(factsOf(demo, publicBaseUrl), null, 2)}\n`;
}

function factsOf({ identity, showcase, dataDir, userId }: Demo, publicBaseUrl: string): DemoFacts {
  return { publicBaseUrl, console: consoleAddress(publicBaseUrl), dataDir, ...identity, userId, ...showcase };
}
