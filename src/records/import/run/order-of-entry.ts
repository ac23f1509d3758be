/**
 * Of the entries of one record that say nothing of their version, the last of the import stands, whichever worker
 * writes first (docs/adr/0108).
 */
import type { IncompleteRecord } from '../map/map-resources.ts';
import type { MappedRecord, ResourceImporter, WriteContext, WriteResult } from '../map/resource-importer.ts';
import { type Met, noteMet, sameAsStored } from '../write/entry-positions.store.ts';
import { rowDigest, WrittenByAnother } from '../write/write-records.ts';
import type { UnitEntry, UnitRun } from './unit.ts';

/** A record that many units share, and that this one has met as it is stored. */
interface Unchanged extends Met {
  /** Hex. */
  digest: string;
  /** True when it misses a referenced record. */
  waits: boolean;
}

export class OrderOfEntry {
  readonly #context: WriteContext;
  readonly #run: Pick<UnitRun, 'place' | 'runId'>;
  readonly #unchanged = new Map<ResourceImporter, Unchanged[]>();

  constructor(context: WriteContext, run: Pick<UnitRun, 'place' | 'runId'>) {
    this.#context = context;
    this.#run = run;
  }

  /**
   * Those of the rows that a later entry has written, or is writing. Units that have one of the noted records wait for
   * this one. So what is shared, and is stored as it comes, is noted at the end.
   */
  async passed(
    importer: ResourceImporter,
    rows: readonly MappedRecord[],
    { chunk, incomplete }: { chunk: readonly UnitEntry[]; incomplete: readonly IncompleteRecord[] },
  ): Promise<MappedRecord[]> {
    const unversioned = rows.filter(
      ({ source = {} }) => source.version === undefined && source.updatedAt === undefined,
    );
    if (this.#run.place === undefined || unversioned.length === 0) return [];
    const numbers = new Map(chunk.map(({ target, number }) => [target.id, number]));
    const waiting = new Set(incomplete.map(({ entry }) => entry.target.id));
    const met = (row: MappedRecord) => ({
      id: row.id,
      number: numbers.get(row.id) ?? 0,
      digest: importer.shared === true ? rowDigest(row) : '',
      waits: waiting.has(row.id),
    });
    const all = unversioned.map(met);
    const same = importer.shared === true ? await this.#same(importer, all) : new Set<string>();
    const unchanged = all.filter(({ id }) => same.has(id));
    this.#unchanged.set(importer, [...(this.#unchanged.get(importer) ?? []), ...unchanged]);
    const now = all.filter(({ id }) => !same.has(id));
    const last = await this.#note(importer, now);
    return unversioned.filter(({ id }) => !same.has(id) && !last.has(id));
  }

  /** Throws when another unit has changed, before this one wrote it, what this one found unchanged. */
  written(importer: ResourceImporter, { created, updated }: WriteResult): void {
    const changed = new Set([...created, ...updated]);
    if (this.#unchanged.get(importer)?.some(({ id }) => changed.has(id)) === true)
      throw new WrittenByAnother();
  }

  /**
   * Note what was left for the end. Throws when an earlier entry has overwritten it meanwhile, or a later one has written
   * what this one has noted as waiting: the wait of the later one must stand.
   */
  async settle(): Promise<void> {
    for (const [importer, unchanged] of this.#unchanged) {
      const last = await this.#note(importer, unchanged);
      const stand = unchanged.filter(({ id, waits }) => waits || last.has(id));
      if ((await this.#same(importer, stand)).size < stand.length) throw new WrittenByAnother();
    }
  }

  async #note({ type }: ResourceImporter, met: readonly Met[]): Promise<Set<string>> {
    const { place, runId } = this.#run;
    if (met.length === 0 || place === undefined) return new Set();
    const { client, scope } = this.#context;
    return noteMet(client, scope, { runId, type, place, met });
  }

  async #same({ table }: ResourceImporter, rows: readonly Unchanged[]): Promise<Set<string>> {
    if (rows.length === 0) return new Set();
    const { client, scope, dryRun } = this.#context;
    const ids = rows.map(({ id }) => id);
    await dryRun?.bring(table, ids);
    return sameAsStored(client, scope, table, rows);
  }
}
