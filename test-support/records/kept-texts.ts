/** Records that are kept as text beside their columns (docs/adr/0120): a database of one file, a facility for each test. */
import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import type { Pool } from '../../src/platform/db/database.ts';
import type { FacilityScope } from '../../src/tenancy/scope.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { importJson } from './import-files.ts';
import { createPlace } from './place.ts';

interface Kept {
  rendered: string | null;
  rendered_version: number | null;
  rendered_mapping: number | null;
  version: number;
}

/** What a check of all texts says when none is wrong. */
export const ALL_RIGHT = { missing: 0, different: [] };

export interface KeptTextsTest {
  pool: Pool;
  scope: FacilityScope;
  /** Import them whole. `__1.50__` stands for the number 1.50: JSON.stringify would write 1.5. */
  send(...resources: object[]): Promise<void>;
  kept(id: string): Promise<Kept>;
  /** Change columns of one record; `set` is SQL. */
  change(id: string, set: string): Promise<unknown>;
}

export function useKeptTexts(
  table: 'encounter' | 'observation' | 'patient' | 'investigation_order',
): KeptTextsTest {
  let database: TestDatabase;
  const t = {
    async send(...resources) {
      const texts = resources.map((one) => JSON.stringify(one).replace(/"__(.*?)__"/g, '$1'));
      const { rejected } = await importJson(t.pool, t.scope, ...texts);
      assert.deepEqual(rejected, []);
    },
    async kept(id) {
      const { rows } = await t.pool.query({
        text: `select rendered, rendered_version, rendered_mapping, version
          from ${table} where organisation_id = $1 and id = $2`,
        values: [t.scope.organisationId, id],
      });
      return rows[0];
    },
    change: (id, set) =>
      t.pool.query({
        text: `update ${table} set ${set} where organisation_id = $1 and id = $2`,
        values: [t.scope.organisationId, id],
      }),
  } as KeptTextsTest;
  before(async () => {
    database = await createTestDatabase();
    t.pool = database.pool;
  });
  beforeEach(async () => {
    t.scope = await createPlace(t.pool);
  });
  after(() => database.drop());
  return t;
}
