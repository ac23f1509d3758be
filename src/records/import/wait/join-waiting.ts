/**
 * Takes records once more, as their sources sent them, when what they waited for has come (docs/adr/0110). Each of two
 * imports that meet looks when it has committed, so that one of them finds the other's record.
 * Contract: IN-20, IN-37.
 */
import { randomUUID } from 'node:crypto';
import { batchesOf } from '../group/batches.ts';
import { IMPORTERS } from '../map/importers.ts';
import type { ResourceImporter } from '../map/resource-importer.ts';
import type { MissingRecord } from '../resolve/read-reference.ts';
import { ReferenceResolver } from '../resolve/resolve-references.ts';
import { announce, type ImportRun } from '../run/import-run.ts';
import { dataFault, faultText, repeatOnConflict } from '../run/import-transaction.ts';
import { importUnit, type UnitOutcome } from '../run/import-unit.ts';
import { ImportStopped } from '../run/stop-import.ts';
import { type EntryReason, Unit, type UnitEntry, type UnitRequest } from '../run/unit.ts';
import { memorySpool } from '../source/spool.ts';
import { lockWaiting, removeWaits, type Waiter, type WaitingRecord, waitersFor } from './waiting.store.ts';

/**
 * Join what waits for records of this unit, which is committed. What this import took itself is joined at its end. The
 * entries of the reasons brought what was waited for.
 */
export function joinWaiting(run: ImportRun, unit: Unit): Promise<EntryReason[]> {
  return noticing(unit.entries[0], () => joinNamed(run, unit.names(), run.runId));
}

/**
 * Join what this unit missed and has come since it was looked for: whoever brought it may have found nobody waiting,
 * because this unit was not committed.
 */
export function joinMissed(
  run: ImportRun,
  { missing }: Pick<UnitOutcome, 'missing'>,
): Promise<EntryReason[]> {
  const [first] = missing.values();
  return noticing(first?.entry, async () => {
    const resolver = new ReferenceResolver(new Unit(), run.scope);
    const answerTo = ({ type, id, key }: MissingRecord) =>
      key === undefined ? resolver.byId(type, id ?? '') : resolver.byIdentifier(type, key);
    for (const { referenced } of missing.values()) answerTo(referenced);
    await run.transaction((client) => resolver.ask(client));
    const there = [...missing.values()].filter(({ referenced }) => typeof answerTo(referenced) === 'object');
    return joinNamed(
      run,
      there.map(({ referenced, entry }) => [referenced.name, entry]),
      undefined,
    );
  });
}

/** What is committed stays taken when something cannot be joined: the records wait on. */
async function noticing(
  entry: UnitEntry | undefined,
  work: () => Promise<EntryReason[]>,
): Promise<EntryReason[]> {
  if (entry === undefined) return [];
  try {
    return await work();
  } catch (error) {
    if (error instanceof ImportStopped) throw error;
    const reason = `was taken, but records that wait for it, or for others of its Bundle, could not be joined (${faultText(error)}). Import it again to join them`;
    return [{ entry, reason }];
  }
}

async function joinNamed(
  run: ImportRun,
  names: Iterable<readonly [name: string, entry: UnitEntry]>,
  except: string | undefined,
): Promise<EntryReason[]> {
  const notices: EntryReason[] = [];
  for (const some of batchesOf(names)) {
    const entries = new Map(some);
    const asked = [...entries.keys()];
    const { dryRun } = run;
    if (dryRun !== undefined) await run.transaction(() => dryRun.bringWaiting(asked));
    let waiters: readonly Waiter[] = [];
    do {
      const after = waiters.at(-1);
      waiters = await run.transaction((client) =>
        waitersFor(client, run.scope, { names: asked, except, after }),
      );
      const byRecord = new Map(waiters.map(({ type, id, name }) => [`${type}/${id}`, entries.get(name)]));
      for (const {
        entry: { target: record },
        reason,
      } of await join(run, waiters)) {
        const name = `${record.type}/${record.id}`;
        const entry = byRecord.get(name);
        if (entry !== undefined)
          notices.push({ entry, reason: `is what ${name} waited for, which ${reason}` });
      }
    } while (waiters.length > 0);
  }
  return notices;
}

async function join(run: ImportRun, waiters: readonly Waiter[]): Promise<EntryReason[]> {
  if (waiters.length === 0) return [];
  const { refused, notices } = await repeatOnConflict(() => tryJoin(run, waiters));
  if (refused.length === 0) return notices;
  await endWaits(run, refused);
  const names = new Set(refused.map(({ type, id }) => `${type}/${id}`));
  const others = waiters.filter(({ type, id }) => !names.has(`${type}/${id}`));
  return [...notices, ...(await join(run, others))];
}

interface Attempt {
  /** Those that cannot be joined, such as one that refers to a record of another patient. The others may wait on. */
  refused: readonly Waiter[];
  notices: EntryReason[];
}

async function tryJoin(run: ImportRun, waiters: readonly Waiter[]): Promise<Attempt> {
  try {
    const { notices } = await run.transaction(async (client) => {
      const found: Found[] = [];
      for (const [type, some] of Map.groupBy(waiters, (waiter) => waiter.type)) {
        const importer = IMPORTERS.get(type);
        if (importer === undefined) continue;
        const ids = some.map(({ id }) => id);
        const records = await lockWaiting(client, run.scope, { ...importer, ids });
        found.push(...records.flatMap((record) => (record.current ? { importer, record } : [])));
        const outdated = records.flatMap(({ id, current }) => (current ? [] : [id]));
        if (outdated.length > 0) await removeWaits(client, run.scope, type, outdated);
      }
      const outcome = await importUnit(client, { ...run, ...unitOf(found) });
      if (outcome.rejected.length > 0) throw new NotJoined(outcome.rejected.map(({ entry }) => entry.target));
      await announce(run, client, outcome);
      return outcome;
    });
    return { refused: [], notices };
  } catch (error) {
    if (error instanceof NotJoined) {
      const isRefused = ({ type, id }: Waiter) =>
        error.records.some((one) => one.type === type && one.id === id);
      return { refused: waiters.filter(isRefused), notices: [] };
    }
    if (dataFault(error) === undefined) throw error;
    if (waiters.length === 1) return { refused: waiters, notices: [] };
    const each: Attempt[] = [];
    for (const one of waiters) each.push(await tryJoin(run, [one]));
    return {
      refused: each.flatMap(({ refused }) => refused),
      notices: each.flatMap(({ notices }) => notices),
    };
  }
}

class NotJoined extends Error {
  override name = 'NotJoined';
  readonly records: readonly { type: string; id: string }[];

  constructor(records: readonly { type: string; id: string }[]) {
    super('Records that wait cannot be joined');
    this.records = records;
  }
}

interface Found {
  importer: ResourceImporter;
  record: WaitingRecord;
}

/** The records as a unit of their own: what their Bundles answered comes along with each. */
function unitOf(
  found: readonly Found[],
): Pick<UnitRequest, 'unit' | 'spool' | 'moreToCome' | 'again' | 'place' | 'runId'> {
  const unit = new Unit();
  const texts: Buffer[] = [];
  let end = 0;
  for (const [index, { importer, record }] of found.entries()) {
    const text = Buffer.from(record.content);
    texts.push(text);
    const start = end;
    end += text.length;
    const { id, sourceId, hasUuid, known } = record;
    unit.addEntry({
      ...{ number: index + 1, start, end, importer, id: sourceId, known, hasUuid },
      target: { type: importer.type, id },
      namedById: false,
      condition: undefined,
      writes: true,
    });
  }
  return {
    unit,
    spool: memorySpool(Buffer.concat(texts)),
    moreToCome: false,
    again: false,
    place: undefined,
    // What still misses something waits for other imports, this one included.
    runId: randomUUID(),
  };
}

/** Waits of these records end, but for those of what another import has written since. */
async function endWaits(run: ImportRun, waiters: readonly Waiter[]): Promise<void> {
  await run.transaction(async (client) => {
    for (const [type, some] of Map.groupBy(waiters, (waiter) => waiter.type)) {
      const importer = IMPORTERS.get(type);
      if (importer === undefined) continue;
      const runs = new Map(some.map(({ id, runId }) => [id, runId]));
      const records = await lockWaiting(client, run.scope, { ...importer, ids: [...runs.keys()] });
      const ids = records.flatMap(({ id, runId }) => (runs.get(id) === runId ? id : []));
      await removeWaits(client, run.scope, type, ids);
    }
  });
}
