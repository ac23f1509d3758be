/**
 * Takes the rows of a map file into a map: good ones are kept, the others reported, each with its place.
 * Contract: TERM-10, TERM-12, TERM-13, TERM-23, TERM-24, TERM-25, TERM-26.
 */

import { createHash } from 'node:crypto';
import type { Client, Pool } from '../../platform/db/database.ts';
import { createPauses } from '../../platform/pauses.ts';
import { DEFAULT_LANGUAGE, type Language } from '../../platform/words/words.ts';
import { badFile, terminologyError } from '../errors.ts';
import { type MapChange, type MapScope, upsertEntries } from '../maps/map.store.ts';
import { type CheckedEntry, checkEntry, type MapEntry } from '../maps/map-entry.ts';
import { changeMap, recordMapChange } from '../maps/open-map.ts';
import { type EntryPlace, type ImportRow, placeText } from './import-row.ts';
import { noteChanges, type PlacedEntry, type PreviewedChange } from './preview-changes.ts';

const ROWS_IN_STATEMENT = 1_000;
/** The places of all keys are remembered while a file is read, at about 150 bytes each. */
const MAX_ROWS = 500_000;
const MAX_REPORTED = 10_000;

export type RejectedRow = EntryPlace & { localCode: string | null; reason: string };

export interface MapImportReport {
  /** Entries that the file has. */
  read: number;
  created: number;
  changed: number;
  unchanged: number;
  rejectedCount: number;
  /** The first 10,000, in the order of the file. */
  rejected: RejectedRow[];
  /** Of a dry run: what would be added and changed, the first of each. */
  changes?: PreviewedChange[];
  /** Of a dry run: stands for what it would change, so that an import can be held to it. */
  preview?: string;
}

export interface MapImportRequest {
  rows: AsyncIterable<ImportRow> | Iterable<ImportRow>;
  change: MapChange;
  /** Report what would happen, entry by entry, and keep nothing. */
  dryRun: boolean;
  /** Of the reasons in the report. */
  language?: Language;
  /** Of the dry run that somebody looked at: nothing is kept when the import would change something else. */
  preview?: string | undefined;
}

/**
 * One transaction: a file that turns out to be unreadable leaves nothing behind, and importing the same file
 * again changes nothing. Of several rows with one key the first is kept. Throws for a file that is none, and when
 * the map is not for this account to change.
 */
export async function importMaps(
  db: Pool,
  scope: MapScope,
  request: MapImportRequest,
): Promise<MapImportReport> {
  return changeMap(db, scope, request.change, async (client, now) => {
    await client.query('savepoint before_import');
    const { preview, ...taken } = await takeRows(client, scope, {
      ...request,
      change: { ...request.change, now },
    });
    if (request.preview !== undefined && request.preview !== preview) throw terminologyError('maps_changed');
    const report = request.dryRun ? { ...taken, preview } : taken;
    const { created, changed, unchanged, rejectedCount } = report;
    const after = { created, changed, unchanged, rejectedCount };
    await recordMapChange(client, scope, request.change, { action: 'import', after });
    if (request.dryRun) await client.query('rollback to savepoint before_import');
    return report;
  });
}

async function takeRows(
  client: Client,
  scope: MapScope,
  request: MapImportRequest,
): Promise<MapImportReport & { preview: string }> {
  const { change, dryRun, language = DEFAULT_LANGUAGE } = request;
  const changes: PreviewedChange[] = [];
  const report: MapImportReport = { ...emptyReport(), ...(dryRun ? { changes } : {}) };
  let fingerprint = 0n;
  const accept = createRowCheck();
  let batch: PlacedEntry[] = [];
  const write = async () => {
    if (batch.length === 0) return;
    if (dryRun) await noteChanges(client, scope, { changes, placed: batch });
    const entries = batch.map(({ entry }) => entry);
    const counts = await upsertEntries(client, scope, { entries, change });
    report.created += counts.created;
    report.changed += counts.changed;
    report.unchanged += counts.unchanged;
    fingerprint += counts.fingerprint;
    batch = [];
  };
  const pause = createPauses();
  for await (const row of request.rows) {
    await pause();
    report.read += 1;
    if (report.read > MAX_ROWS)
      throw badFile({
        en: `The file has more than ${MAX_ROWS} entries. Split it and import the parts.`,
        fr: `Le fichier a plus de ${MAX_ROWS} entrées. Divisez-le et importez les parties.`,
      });
    const checked = accept(row);
    if ('fault' in checked) reject(report, row, checked.fault[language]);
    else batch.push({ place: placeOf(row), entry: checked.entry });
    if (batch.length === ROWS_IN_STATEMENT) await write();
  }
  await write();
  return { ...report, preview: BigInt.asUintN(64, fingerprint).toString(16) };
}

function emptyReport(): MapImportReport {
  return { read: 0, created: 0, changed: 0, unchanged: 0, rejectedCount: 0, rejected: [] };
}

/** Checks rows one by one, each against those before it. */
function createRowCheck(): (row: ImportRow) => CheckedEntry {
  const seen = new Map<string, EntryPlace>();
  return (row) => {
    if (row.fault !== undefined) return { fault: row.fault };
    const checked = checkEntry(row.given);
    if ('fault' in checked) return checked;
    const key = keyDigest(checked.entry);
    const first = seen.get(key);
    if (first !== undefined)
      return {
        fault: {
          en: `maps the same local code to the same system as ${placeText(first)}, which is kept`,
          fr: `l’entrée associe le même code local au même système que ${placeText(first, 'fr')}, qui l’emporte`,
        },
      };
    seen.set(key, placeOf(row));
    return checked;
  };
}

/** Short, however long the codes are. */
function keyDigest({ localSystem, localCode, targetSystem }: MapEntry): string {
  const key = JSON.stringify([localSystem, localCode, targetSystem]);
  return createHash('sha256').update(key).digest('latin1').slice(0, 16);
}

function reject(report: MapImportReport, row: ImportRow, reason: string): void {
  report.rejectedCount += 1;
  if (report.rejected.length === MAX_REPORTED) return;
  const localCode = row.given.localCode?.slice(0, 200) ?? null;
  report.rejected.push({ ...placeOf(row), localCode, reason });
}

function placeOf(row: ImportRow): EntryPlace {
  return 'line' in row ? { line: row.line } : { path: row.path };
}
