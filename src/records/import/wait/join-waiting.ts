/**
 * Takes records once more, as their sources sent them, when what they waited for has come (docs/adr/0110). Each of two
 * imports that meet looks when it has committed, so that one of them finds the other's record.
 * Contract: IN-20, IN-37.
 */
import { randomUUID } from 'node:crypto';
import { IMPORTERS } from '../map/importers.ts';
import { announce, type ImportRun } from '../run/import-run.ts';
import { dataFault, repeatOnConflict } from '../run/import-transaction.ts';
import { importUnit, type UnitRequest, wholeDocument } from '../run/import-unit.ts';
import { Unit } from '../run/unit.ts';
import { memorySpool } from '../source/spool.ts';
import {
  anyWaits,
  lockWaiting,
  removeWaits,
  type Waiter,
  type WaitingRecord,
  waitersFor,
} from './waiting.store.ts';

/** Names that are asked for at once. */
const NAMES = 1_000;
/** Records in one transaction, and characters of their JSON, at most. */
const RECORDS = 200;
const LENGTH = 8 * 1_048_576;

/** Join what waits for records of this unit, which is committed. What this import took itself is joined at its end. */
export async function joinWaiting(run: ImportRun, unit: Unit): Promise<void> {
  const { scope, runId } = run;
  if (!(await run.transaction((client) => anyWaits(client, scope, runId)))) return;
  for (const targets of setsOf(unit.names())) {
    const waiters = await run.transaction((client) => waitersFor(client, scope, { targets, runId }));
    for (const some of batches(waiters)) await join(run, some);
  }
}

async function join(run: ImportRun, waiters: readonly Waiter[]): Promise<void> {
  const refused = await repeatOnConflict(() => tryJoin(run, waiters));
  if (refused.length === 0) return;
  await endWaits(run, refused);
  const names = new Set(refused.map(({ type, id }) => `${type}/${id}`));
  const others = waiters.filter(({ type, id }) => !names.has(`${type}/${id}`));
  if (others.length > 0) await join(run, others);
}

/** Those that cannot be joined, such as links to another patient; nothing is changed then. */
async function tryJoin(run: ImportRun, waiters: readonly Waiter[]): Promise<readonly Waiter[]> {
  try {
    await run.transaction(async (client) => {
      const found: { type: string; record: WaitingRecord }[] = [];
      for (const [type, some] of Map.groupBy(waiters, (waiter) => waiter.type)) {
        const [table] = IMPORTERS.get(type)?.tables ?? [];
        if (table === undefined) continue;
        const records = await lockWaiting(client, run.scope, { type, table, ids: some.map(({ id }) => id) });
        found.push(...records.map((record) => ({ type, record })));
      }
      const outcome = await importUnit(client, { ...run, ...again(found) });
      if (outcome.rejected.length > 0) throw new NotJoined(outcome.rejected.map(({ entry }) => entry.target));
      await announce(run, client, outcome);
    });
    return [];
  } catch (error) {
    if (error instanceof NotJoined)
      return waiters.filter(({ id }) => error.targets.some((one) => one.id === id));
    if (dataFault(error) === undefined) throw error;
    if (waiters.length === 1) return waiters;
    const refused: Waiter[] = [];
    for (const one of waiters) refused.push(...(await tryJoin(run, [one])));
    return refused;
  }
}

class NotJoined extends Error {
  override name = 'NotJoined';
  readonly targets: readonly { type: string; id: string }[];

  constructor(targets: readonly { type: string; id: string }[]) {
    super('Records that wait cannot be joined');
    this.targets = targets;
  }
}

/** The records as a unit of their own: what their Bundles answered comes along with each. */
function again(
  found: readonly { type: string; record: WaitingRecord }[],
): Pick<
  UnitRequest,
  'unit' | 'spool' | 'resourceOf' | 'moreToCome' | 'again' | 'place' | 'runId' | 'maxReasons'
> {
  const unit = new Unit();
  const texts: Buffer[] = [];
  let end = 0;
  for (const [index, { type, record }] of found.entries()) {
    const importer = IMPORTERS.get(type);
    if (importer === undefined) continue;
    const text = Buffer.from(record.content);
    texts.push(text);
    const [start, number] = [end, index + 1];
    end += text.length;
    const { id, sourceId, hasUuid, known } = record;
    const target = { type, id };
    unit.addEntry({
      ...{ number, start, end, importer, id: sourceId, target, known, hasUuid },
      namedById: false,
      condition: undefined,
      writes: true,
    });
  }
  const spool = memorySpool(Buffer.concat(texts));
  // What still misses something waits for other imports, this one included.
  const runId = randomUUID();
  const maxReasons = found.length;
  return {
    unit,
    spool,
    resourceOf: wholeDocument,
    moreToCome: false,
    again: false,
    place: undefined,
    runId,
    maxReasons,
  };
}

async function endWaits(run: ImportRun, waiters: readonly Waiter[]): Promise<void> {
  await run.transaction(async (client) => {
    for (const [type, some] of Map.groupBy(waiters, (waiter) => waiter.type))
      await removeWaits(
        client,
        run.scope,
        type,
        some.map(({ id }) => id),
      );
  });
}

function* setsOf(names: Iterable<string>): Generator<string[]> {
  let some = new Set<string>();
  for (const name of names) {
    some.add(name);
    if (some.size < NAMES) continue;
    yield [...some];
    some = new Set();
  }
  if (some.size > 0) yield [...some];
}

function* batches(waiters: readonly Waiter[]): Generator<Waiter[]> {
  let some: Waiter[] = [];
  let length = 0;
  for (const waiter of waiters) {
    some.push(waiter);
    length += waiter.length;
    if (some.length < RECORDS && length < LENGTH) continue;
    yield some;
    some = [];
    length = 0;
  }
  if (some.length > 0) yield some;
}
