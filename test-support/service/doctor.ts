/** What tests of the doctor share: a database that it finds nothing wrong with, and its findings. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Finding } from '../../src/app/doctor/finding.ts';
import { createPool, type Pool } from '../../src/platform/db/database.ts';
import { makePartitions } from '../../src/privacy/access-log/access-log-partition.store.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { type CommandResult, runCommand } from './command.ts';

export const DOCTOR_MASTER_KEY = '17'.repeat(32);

interface Report {
  outcome: string;
  findings: Finding[];
}

export function reportOf({ code, stdout, stderr }: CommandResult): Report {
  assert.equal(stderr, code === 0 ? '' : 'error: Not everything is in order. The output says what to do.\n');
  return JSON.parse(stdout) as Report;
}

export function finding({ findings }: Report, check: string): Finding {
  return findings.find((one) => one.check === check) ?? assert.fail(`there is no check ${check}`);
}

export function says(found: Finding, outcome: string, text: RegExp, remedy: RegExp): void {
  assert.equal(found.outcome, outcome, JSON.stringify(found));
  assert.match(found.text, text);
  assert.match(found.remedy ?? '', remedy);
}

interface DoctorTest {
  database: TestDatabase;
  owner: Pool;
  env: Record<string, string>;
  doctor(extra?: Record<string, string>, ...args: string[]): Promise<CommandResult>;
  /** What one check says. */
  examined(check: string, extra?: Record<string, string>): Promise<Finding>;
  /** The same while `sql` holds, which `undo` takes back. */
  broken(check: string, sql: string, undo: string): Promise<Finding>;
}

export function useDoctor(): DoctorTest {
  const t = {
    doctor: (extra = {}, ...args) => runCommand(['doctor', ...args], { env: { ...t.env, ...extra } }),
    async examined(check, extra = {}) {
      const result = await t.doctor(extra, '--json');
      const report = reportOf(result);
      assert.equal(result.code, report.outcome === 'failed' ? 1 : 0);
      return finding(report, check);
    },
    async broken(check, sql, undo) {
      await t.owner.query(sql);
      try {
        return await t.examined(check);
      } finally {
        await t.owner.query(undo);
      }
    },
  } as DoctorTest;
  before(async () => {
    t.database = await createTestDatabase();
    const { url } = t.database;
    t.owner = createPool({ url, max: 2, applicationName: 'test' }, () => undefined);
    t.env = { DATABASE_URL: url, MASTER_KEY: DOCTOR_MASTER_KEY };
    assert.equal((await runCommand(['organisation', 'create', '--name', 'Clinic'], t)).code, 0);
    await makePartitions(t.owner, new Date(), 4);
  });
  after(async () => {
    await t.owner.end();
    await t.database.drop();
  });
  return t;
}
