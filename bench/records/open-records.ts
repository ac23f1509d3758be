/** The records that are read, in a database that is kept from run to run, and a caller who may read them. */
import { hash } from 'node:crypto';
import { loadConfig } from '../../src/app/config/config.ts';
import { masterKeySource } from '../../src/app/config/master-key.ts';
import { openServiceKeys } from '../../src/app/master-key/service-keys.ts';
import { checkTexts } from '../../src/clinical/kept/check-texts.ts';
import { OBSERVATION_TEXTS } from '../../src/clinical/kept/observation-texts.store.ts';
import { ENCOUNTER_TEXTS } from '../../src/encounters/encounter.store.ts';
import { ORDER_TEXTS } from '../../src/investigations/kept/order-rendering.store.ts';
import { PATIENT_TEXTS } from '../../src/patients/kept/patient-texts.store.ts';
import type { KeyRing } from '../../src/platform/crypto/key-ring.ts';
import { createPool, type Pool } from '../../src/platform/db/database.ts';
import { SERVICE_ROLE, withClient } from '../../src/platform/db/migrate.ts';
import type { Bench } from '../bench.ts';
import { keptDatabase } from '../databases.ts';
import { orderStatements } from './orders.ts';
import { peopleStatements } from './people.ts';
import { createPlace, type Place, signIn } from './sign-in.ts';

export interface LoadSize {
  patients: number;
  encounters: number;
  /** Laboratory orders, and as many imaging orders and vital sets. */
  orders: number;
}

/** So many patients and encounters. */
export function sizeOf(records: number): LoadSize {
  return { patients: records, encounters: records, orders: Math.max(1_000, Math.floor(records / 50)) };
}

export const PLACE: Place = {
  organisationId: '00000000-0000-4000-8000-0a0000000001',
  facilityId: '00000000-0000-4000-8000-0a0000000002',
};

export interface Records {
  size: LoadSize;
  databaseUrl: string;
  token: string;
}

// The texts of orders are made of those of observations.
const KEPT = [ENCOUNTER_TEXTS, OBSERVATION_TEXTS, PATIENT_TEXTS, ORDER_TEXTS];

export async function openRecords({ serverUrl, say }: Bench, size: LoadSize): Promise<Records> {
  const statements = [...peopleStatements(size), ...orderStatements(size)];
  const databaseUrl = await keptDatabase(serverUrl, {
    name: `bench_${size.encounters}`,
    mark: hash('sha256', [...statements, ...KEPT.map(({ mapping }) => mapping)].join()),
    fill: async (url) => {
      say(`loading ${size.patients} patients, ${size.encounters} encounters, ${size.orders} orders (once) …`);
      await withService(url, (db) => createPlace(db, PLACE));
      await withClient(url, async (client) => {
        await client.query('set synchronous_commit = off');
        for (const text of statements) await client.query(text, [PLACE.organisationId, PLACE.facilityId]);
        // An import leaves each row with its text; a row that got it later lies beside its dead one.
        for (const table of KEPT) await checkTexts(client, table, PLACE.organisationId, { renew: true });
        await client.query('vacuum (full) encounter');
        await client.query('vacuum (full) observation');
        await client.query('vacuum (full) patient');
        await client.query('vacuum (full) investigation_order');
        await client.query('vacuum (analyze)');
      });
    },
  });
  // The entries of earlier runs would make this one slower.
  await withClient(databaseUrl, (client) => client.query('truncate access_log'));
  const token = await withService(databaseUrl, (db, keys) => signIn(db, keys, PLACE));
  return { size, databaseUrl, token };
}

/** Of the databases of the benchmark only, which hold no secret. */
const MASTER_KEY = 'be'.repeat(32);

/** What a process of the service, or a command, is told about the database. */
export function environmentOf(databaseUrl: string): Record<string, string> {
  return { DATABASE_URL: databaseUrl, MASTER_KEY };
}

/** With connections that act as the service's role, and its keys. */
export async function withService<T>(
  databaseUrl: string,
  work: (db: Pool, keys: KeyRing) => Promise<T>,
): Promise<T> {
  const keys = await openServiceKeys(databaseUrl, masterKeySource(loadConfig(environmentOf(databaseUrl))));
  const db = createPool(
    { url: databaseUrl, max: 2, applicationName: 'interchange bench', role: SERVICE_ROLE },
    () => undefined,
  );
  try {
    return await work(db, keys);
  } finally {
    await Promise.all([db.end(), keys.close()]);
  }
}

/** Numbers from 1 to `max`, spread evenly and in no order that a cache could like. */
export function spread(max: number, count = 4_000): number[] {
  const step = Math.max(1, Math.floor(max / count));
  const total = Math.min(count, max);
  return Array.from({ length: total }, (_, index) => 1 + ((index * 7_919) % total) * step);
}
