import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { beforeEach, describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { addAccount, addTenant, cheapPasswords } from '../../../test-support/sign-in/sign-in.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { createFacility, createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { setPermissions } from '../../tenancy/roles/roles.ts';
import { listEntries } from '../maps/list-maps.store.ts';
import type { MapScope } from '../maps/map.store.ts';
import { type ExportFormat, exportMaps } from './export-maps.ts';
import { importMaps } from './import-maps.ts';
import type { ImportRow } from './import-row.ts';
import { readMapFile } from './read-map-file.ts';

const LOINC = 'http://loinc.org';
const HEADER = 'local_system,local_code,local_display,target_system,target_code,target_display';
const now = new Date('2026-01-02T03:04:05Z');
let scope: MapScope;

const database = await useTestDatabase();
beforeEach(async () => {
  scope = {
    organisationId: (await createOrganisation(database.pool, { name: 'Organisation' })).id,
    facilityId: null,
  };
});

const take = (rows: AsyncIterable<ImportRow> | ImportRow[], into = scope, dryRun = false) =>
  importMaps(database.pool, into, { rows, change: { now, author: OPERATOR }, dryRun });

const csv = (text: string) => readMapFile(Readable.from([Buffer.from(text)]), 'csv', { ignored: new Map() });

async function kept(of = scope): Promise<string[]> {
  const entries = await listEntries(database.pool, of, { filter: {}, limit: 100_000 });
  return entries.map((entry) => `${entry.localCode}=${entry.targetCode} v${entry.version}`);
}

describe('importing', () => {
  const file = `${HEADER}\nurn:lab,A,a,${LOINC},718-7,x\nurn:lab,B,b,${LOINC},2345-7,y\n`;

  test('keeps what is good; the same file again changes nothing [TERM-13]', async () => {
    const counts = { read: 2, rejectedCount: 0, rejected: [] };
    assert.deepEqual(await take(csv(file)), { ...counts, created: 2, changed: 0, unchanged: 0 });
    assert.deepEqual(await take(csv(file)), { ...counts, created: 0, changed: 0, unchanged: 2 });
    assert.deepEqual(await kept(), ['A=718-7 v1', 'B=2345-7 v1']);
  });

  for (const [format, text] of Object.entries({
    csv: `${HEADER}\n${',,,,,\n'.repeat(50_000)}`,
    conceptmap: JSON.stringify({ resourceType: 'ConceptMap', group: [{ element: Array(50_000).fill({}) }] }),
  } as const))
    test(`lets others in while it reads ${format}, also where it writes nothing [TERM-26]`, async () => {
      let turns = 0;
      let counting = setImmediate(function count() {
        turns += 1;
        counting = setImmediate(count);
      });
      const at: number[] = [];
      async function* rows() {
        const source = Readable.from([Buffer.from(text)]);
        for await (const row of readMapFile(source, format as 'csv' | 'conceptmap', { ignored: new Map() })) {
          at.push(turns);
          yield row;
        }
      }
      assert.equal((await take(rows())).rejectedCount, 50_000);
      clearImmediate(counting);
      assert.ok(Number(at.at(-1)) > Number(at[0]));
      assert.ok(Number(at[25_000]) > Number(at[0]));
    });

  test('changes an entry whose target changed, as its next version', async () => {
    await take(csv(file));
    const report = await take(csv(file.replace('2345-7', '2339-0')));
    assert.deepEqual([report.created, report.changed, report.unchanged], [0, 1, 1]);
    assert.deepEqual(await kept(), ['A=718-7 v1', 'B=2339-0 v2']);
  });

  test('reports each gap with its line and reason, and keeps the rest [TERM-12]', async () => {
    const gaps = `${HEADER}
urn:lab,A,a,${LOINC},718-7,x
urn:lab,B,b,${LOINC},,
urn:lab,C,c,${LOINC},718-8,x
urn:lab,D,d,${LOINC},50801,x
urn:lab,E,e,,718-7,x
urn:lab,,f,${LOINC},718-7,x
urn:lab,A,again,${LOINC},2345-7,x
urn:lab,G
urn:lab,H,h,${LOINC},2345-7,y
`;
    const report = await take(csv(gaps));
    assert.deepEqual([report.read, report.created, report.rejectedCount], [9, 2, 7]);
    assert.deepEqual(
      report.rejected.map((row) => ('line' in row ? [row.line, row.localCode, row.reason] : row)),
      [
        [3, 'B', 'has no target code'],
        [4, 'C', 'target code has a wrong LOINC check digit; look for a mistyped digit'],
        [5, 'D', 'target code is not a LOINC code: digits, a hyphen and a check digit, such as 718-7'],
        [6, 'E', 'has no target system'],
        [7, '', 'has no local code'],
        [8, 'A', 'maps the same local code to the same system as line 2, which is kept'],
        [9, 'G', 'has 2 cells, but the header has 6'],
      ],
    );
    assert.deepEqual(await kept(), ['A=718-7 v1', 'H=2345-7 v1']);
  });

  test('a dry run reports the same and keeps nothing', async () => {
    const report = await take(csv(file), scope, true);
    assert.equal(report.created, 2);
    assert.deepEqual(await kept(), []);
  });

  test('a file that breaks in the middle leaves nothing', async () => {
    await assert.rejects(take(csv(`${file}urn:lab,"C,`)), { code: 'bad_map_file' });
    assert.deepEqual(await kept(), []);
  });

  test('entries of a facility stand beside those of the organisation', async () => {
    const { id } = await createFacility(database.pool, { organisationId: scope.organisationId, name: 'F' });
    const ofFacility = { ...scope, facilityId: id };
    await take(csv(file));
    assert.equal((await take(csv(file), ofFacility)).created, 2);
    assert.equal((await take(csv(file), ofFacility)).unchanged, 2);
    assert.equal((await kept(ofFacility)).length, 4);
    assert.equal((await kept()).length, 2);
  });

  test('the trace says who made which version when', async () => {
    const tenant = await addTenant(database);
    const managing = { ...tenant, name: tenant.role, permissions: ['terminology.maps.manage'] };
    await setPermissions(database.pool, managing);
    const { userId: accountId } = await addAccount({ database, passwords: cheapPasswords() }, tenant);
    const ofTenant = { organisationId: tenant.organisationId, facilityId: null };
    await take(csv(file), ofTenant);
    await importMaps(database.pool, ofTenant, {
      rows: csv(file.replace('2345-7', '2339-0')),
      change: {
        now: new Date('2026-02-03T00:00:00Z'),
        author: { kind: 'account', accountId, correlationId: 'c1' },
      },
      dryRun: false,
    });
    const { rows } = await database.pool.query({
      text: `select local_code, version, kind, target_code, changed_at, changed_by from terminology_map_change
        where organisation_id = $1 order by local_code, version`,
      values: [tenant.organisationId],
    });
    const trace = (local_code: string, version: number, kind: string, target_code: string) => ({
      local_code,
      version,
      kind,
      target_code,
    });
    assert.deepEqual(rows, [
      { ...trace('A', 1, 'created', '718-7'), changed_at: now, changed_by: null },
      { ...trace('B', 1, 'created', '2345-7'), changed_at: now, changed_by: null },
      {
        ...trace('B', 2, 'changed', '2339-0'),
        changed_at: new Date('2026-02-03T00:00:00Z'),
        changed_by: accountId,
      },
    ]);
  });

  test('two imports at one time, in opposite order, both finish', async () => {
    const rows = (codes: number[]): ImportRow[] =>
      codes.map((code) => ({
        line: code,
        given: { localCode: `C${code}`, targetSystem: LOINC, targetCode: '718-7' },
      }));
    const up = Array.from({ length: 3_000 }, (_, code) => code);
    const reports = await Promise.all([take(rows(up)), take(rows(up.toReversed()))]);
    assert.deepEqual(reports.map(({ created }) => created).sort(), [0, 3_000]);
  });
});

describe('a large file', () => {
  test('is taken in bounded memory and statements, and reports no more than 10,000 rows', async () => {
    const count = 30_000;
    async function* rows(): AsyncGenerator<ImportRow> {
      for (let line = 1; line <= count; line += 1) {
        const targetCode = line % 2 === 0 ? '718-7' : '718-8';
        yield {
          line,
          given: { localCode: `C${line}`, localDisplay: 'x'.repeat(200), targetSystem: LOINC, targetCode },
        };
      }
    }
    const report = await take(rows());
    assert.deepEqual(
      [report.created, report.rejectedCount, report.rejected.length],
      [15_000, 15_000, 10_000],
    );
  });

  test('of more than 500,000 entries is refused, and leaves nothing', async () => {
    async function* rows(): AsyncGenerator<ImportRow> {
      for (let line = 1; line <= 500_001; line += 1) yield { line, given: {}, fault: { en: 'x', fr: 'y' } };
    }
    await assert.rejects(take(rows()), /more than 500000 entries/);
  });
});

describe('export and import', () => {
  const entries: ImportRow[] = [
    {
      line: 1,
      given: {
        localSystem: 'urn:lab',
        localCode: 'A',
        localDisplay: 'a "quoted", one',
        targetSystem: LOINC,
        targetCode: '718-7',
        targetDisplay: 'x',
      },
    },
    {
      line: 2,
      given: {
        localSystem: 'urn:lab',
        localCode: '=cmd()',
        localDisplay: 'line\r\nend',
        targetSystem: LOINC,
        targetCode: '2345-7',
      },
    },
    {
      line: 3,
      given: {
        localCode: 'no system',
        targetSystem: 'urn:oid:1.2.3',
        targetCode: '@x',
        equivalence: 'narrower',
        comment: '-only',
      },
    },
    {
      line: 4,
      given: {
        localSystem: 'urn:lab',
        localCode: 'N',
        localDisplay: "'+1",
        targetSystem: LOINC,
        equivalence: 'unmatched',
      },
    },
  ];

  async function contentOf(of: MapScope) {
    const found = await listEntries(database.pool, of, { filter: {}, limit: 10_000 });
    return found.map(
      ({ id: _id, version: _version, updatedAt: _at, updatedBy: _by, facilityId: _facility, ...entry }) =>
        entry,
    );
  }

  for (const format of ['csv', 'conceptmap'] as const satisfies ExportFormat[]) {
    test(`as ${format} gives the same map in another organisation [TERM-14]`, async () => {
      await take(entries);
      const text = await exportMaps(database.pool, scope, format);
      const other = {
        ...scope,
        organisationId: (await createOrganisation(database.pool, { name: 'Other' })).id,
      };
      const copy = readMapFile(Readable.from(text, { objectMode: false }), format, { ignored: new Map() });
      const report = await take(copy, other);
      assert.deepEqual([report.created, report.rejected], [4, []]);
      assert.deepEqual(await contentOf(other), await contentOf(scope));
    });

    test(`as ${format} gives the same map when it has many pages`, async () => {
      const many = Array.from({ length: 2_500 }, (_, line) => ({
        line,
        given: {
          localCode: `C${line}`,
          targetSystem: line % 2 === 0 ? LOINC : 'urn:oid:1.2',
          targetCode: '718-7',
        },
      }));
      await take(many);
      const text = await exportMaps(database.pool, scope, format);
      const report = await take(
        readMapFile(Readable.from(text, { objectMode: false }), format, { ignored: new Map() }),
      );
      assert.deepEqual([report.read, report.unchanged], [2_500, 2_500]);
    });
  }

  test('as CSV has six columns unless an entry needs more', async () => {
    await take(csv(`${HEADER}\nurn:lab,A,a,${LOINC},718-7,x\n`));
    const text = (await Array.fromAsync(await exportMaps(database.pool, scope, 'csv'))).join('');
    assert.equal(text, `${HEADER}\r\nurn:lab,A,a,${LOINC},718-7,x\r\n`);
  });
});
