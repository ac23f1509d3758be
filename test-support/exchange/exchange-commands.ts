/** A clinic with a database of its own, and the commands about its connections as real processes. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { createFacility, createOrganisation } from '../../src/tenancy/organisations/facilities.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { runCommand, runJson } from '../service/command.ts';
import { freePort } from '../service/free-port.ts';
import type { Place } from './exchange-records.ts';

export interface ExchangeCommands {
  database: TestDatabase;
  place: Place;
  folder: string;
  env: Record<string, string>;
  /** Of the service that a test starts. */
  origin: string;
  json(...args: string[]): ReturnType<typeof runJson>;
  /** Ends with this code, says this, and prints nothing. */
  fails(code: number, message: RegExp, ...args: string[]): Promise<void>;
  /** A connection of all facilities, unless `more` says otherwise. */
  create(...more: string[]): ReturnType<typeof runJson>;
}

/** Call it at the top of the file. The functions are there at once, the rest in tests: hooks beside it run at the same time. */
export function useExchangeCommands(): ExchangeCommands {
  const json = (...args: string[]) => runJson(args, { env: clinic.env });
  const clinic = {
    json,
    async fails(code, message, ...args) {
      const result = await runCommand(args, { env: clinic.env });
      assert.equal(result.code, code, `${args.join(' ')}: ${result.stdout}${result.stderr}`);
      assert.match(result.stderr, message);
      assert.equal(result.stdout, '');
    },
    create: (...more) =>
      json(
        'connection',
        'create',
        '--organisation',
        clinic.place.organisationId,
        '--name',
        'HIE',
        '--address',
        'http://127.0.0.1:9/in',
        '--client-id',
        'clinic',
        ...more,
      ),
  } as ExchangeCommands;
  before(async () => {
    clinic.database = await createTestDatabase();
    clinic.origin = `http://127.0.0.1:${await freePort()}`;
    clinic.folder = await mkdtemp(join(tmpdir(), 'exchange-commands-'));
    clinic.env = {
      DATABASE_URL: clinic.database.url,
      MASTER_KEY: randomBytes(32).toString('hex'),
      PORT: new URL(clinic.origin).port,
      // So that no address is called a guess.
      PUBLIC_BASE_URL: `${clinic.origin}/api/v1`,
    };
    const { pool } = clinic.database;
    const { id: organisationId } = await createOrganisation(pool, { name: 'Org' });
    const { id: facilityId } = await createFacility(pool, { organisationId, name: 'Clinic' });
    clinic.place = { organisationId, facilityId };
  });
  after(async () => {
    await clinic.database.drop();
    await rm(clinic.folder, { recursive: true, force: true });
  });
  return clinic;
}
