/**
 * Answers what references point at. Questions that the Bundle itself cannot answer are gathered while
 * resources are mapped, and put to the database together: one query for each type and kind.
 * Contract: IN-8, IN-9.
 */

import type { Queryable } from '../../../platform/db/database.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { batchesOf } from '../group/batches.ts';
import { IMPORTERS } from '../map/importers.ts';
import type { IdentifierKey } from '../map/record-lookup.ts';
import type { ResourceImporter } from '../map/resource-importer.ts';
import type { Unit } from '../run/unit.ts';
import type { DryRun } from '../write/dry-run-tables.store.ts';
import { storedIds } from './place-ids.ts';
import type { Answer } from './read-reference.ts';
import { identifierText, recordId } from './record-id.ts';

/** Answers that are remembered within one unit before they are forgotten. */
const REMEMBERED = 50_000;

interface Questions {
  importer: ResourceImporter;
  /** By the id in the organisation: what the record may be stored under. */
  ids: Map<string, readonly string[]>;
  keys: Map<string, IdentifierKey>;
}

export class ReferenceResolver {
  readonly #unit: Unit;
  readonly #scope: FacilityScope;
  readonly #dryRun: DryRun | undefined;
  readonly #answers = new Map<string, Answer>();
  #questions = new Map<string, Questions>();

  constructor(unit: Unit, scope: FacilityScope, dryRun?: DryRun) {
    this.#unit = unit;
    this.#scope = scope;
    this.#dryRun = dryRun;
  }

  /** True when records of the type can be stored at all. */
  knows(type: string): boolean {
    return IMPORTERS.has(type);
  }

  /** The record that the source calls `Type/sourceId`. */
  byId(type: string, sourceId: string): Answer {
    const id = recordId(type, sourceId);
    const inUnit = this.#unit.sameRecord(type, id);
    if (inUnit !== undefined) return inUnit.target;
    return this.#ask(type, `${type}/${id}`, ({ importer, ids }) =>
      ids.set(id, storedIds(importer, this.#scope, { id, hasUuid: isUuid(sourceId) })),
    );
  }

  byIdentifier(type: string, key: IdentifierKey): Answer {
    const text = identifierText(type, key);
    const stored = this.#ask(type, text, ({ keys }) => keys.set(text, key));
    if (stored === 'pending' || stored === 'several') return stored;
    const found = new Map(this.#unit.findByIdentifier(type, key).map((target) => [target.id, target]));
    if (stored !== 'missing') found.set(stored.id, stored);
    const [only, ...others] = found.values();
    return only === undefined ? 'missing' : others.length === 0 ? only : 'several';
  }

  /** Put every open question to the database. */
  async ask(db: Queryable): Promise<void> {
    const questions = this.#questions;
    this.#questions = new Map();
    if (this.#answers.size > REMEMBERED) this.#answers.clear();
    for (const { importer, ids, keys } of questions.values()) {
      await this.#askIds(db, importer, ids);
      await this.#askKeys(db, importer, keys.values());
    }
  }

  #ask(type: string, text: string, note: (questions: Questions) => void): Answer {
    const known = this.#answers.get(text);
    if (known !== undefined) return known;
    const importer = IMPORTERS.get(type);
    if (importer === undefined) return 'missing';
    const questions = this.#questions.get(type) ?? { importer, ids: new Map(), keys: new Map() };
    this.#questions.set(type, questions);
    note(questions);
    return 'pending';
  }

  async #askIds(
    db: Queryable,
    { type, lookup, table }: ResourceImporter,
    ids: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    for (const some of batchesOf(ids)) {
      const wanted = some.flatMap(([, stored]) => stored);
      await this.#dryRun?.bring(table, wanted);
      const existing = new Set(await lookup.existing(db, this.#scope, wanted));
      for (const [id, stored] of some) {
        const found = stored.find((one) => existing.has(one));
        this.#answers.set(`${type}/${id}`, found === undefined ? 'missing' : { type, id: found });
      }
    }
  }

  async #askKeys(db: Queryable, importer: ResourceImporter, keys: Iterable<IdentifierKey>): Promise<void> {
    const { type, lookup } = importer;
    for (const some of batchesOf(keys)) {
      await this.#dryRun?.bringIdentified(importer, some, 'facility');
      const matches = await lookup.byIdentifier(db, this.#scope, some, 'facility');
      for (const key of some) this.#answers.set(identifierText(type, key), 'missing');
      for (const { id, ...key } of matches) {
        const text = identifierText(type, key);
        const before = this.#answers.get(text);
        const same = before === 'missing' || (typeof before === 'object' && before.id === id);
        this.#answers.set(text, same ? { type, id } : 'several');
      }
    }
  }
}
