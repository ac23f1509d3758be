/**
 * One chain of the access log, checked entry by entry in the order of their numbers. Contract: LOG-15, LOG-16.
 */

import type { ListedWriter, ReadEntry } from '../access-log/access-log-chain.store.ts';
import { entryHash, genesisHash, headSeal, placeOf } from '../access-log/hash-chain.ts';
import type { ChainKeys } from '../archive/archive-manifest.ts';
import type { Archives } from '../archive/check-archives.ts';

export const REGISTRATION_CHANGED = 'the registration was changed';

/** What a walk found. */
export interface WalkFinding {
  /** Entries that were read. */
  entries: number;
  /** Entries that were not, because organisations could not be read. */
  unread: number;
  fault?: { writerId: string; sequence: number | null; reason: string };
}

export interface ChainWalk {
  /** The next entry of the chain that was read. */
  meet(entry: ReadEntry): void;
  /** `now` is the writer as it is after the reading; undefined when it is not registered any more. */
  end(now: ListedWriter | undefined): WalkFinding;
}

export interface WalkContext {
  /** Newest first. */
  keys: ChainKeys;
  archives: Archives;
  /** Hashes of noted heads by their places; those that are met are taken out. */
  noted: Map<string, string>;
  /** Organisations that could not be read so far: their entries are gaps. */
  unread: ReadonlySet<string>;
}

/** How far a walk has come, and the hash there. */
interface Link {
  sequence: number;
  hash: Buffer;
}

/** Where a chain stops being good, and why. */
class BrokenChain extends Error {
  readonly sequence: number | null;

  constructor(sequence: number | null, reason: string) {
    super(reason);
    this.sequence = sequence;
  }
}

interface WalkState {
  key: Uint8Array;
  link: Link;
  entries: number;
  unread: number;
  /** The highest number that is above the head as it was before the reading. */
  beyond: number;
  finerTime: boolean;
}

export function createWalk(context: WalkContext, writer: ListedWriter): ChainWalk {
  const state: WalkState = {
    key: context.keys[0],
    link: { sequence: 0, hash: writer.genesisHash },
    entries: 0,
    unread: 0,
    beyond: 0,
    finerTime: writer.finerTime,
  };
  let broken: BrokenChain | undefined;

  function attempt(step: () => void): void {
    if (broken !== undefined) return;
    try {
      step();
    } catch (error) {
      if (!(error instanceof BrokenChain)) throw error;
      broken = error;
    }
  }

  attempt(() => {
    state.key = keyOf(context.keys, writer);
    state.link = passArchives(context, writer, meetNoted(context.noted, writer.id, state.link));
  });
  return {
    meet(entry) {
      if (entry.sequence > writer.lastSequence) {
        state.beyond = Math.max(state.beyond, entry.sequence);
        return;
      }
      state.entries += 1;
      state.finerTime ||= entry.finerTime;
      attempt(() => {
        state.link = passArchives(context, writer, nextLink(context, state, entry));
      });
    },
    end(now) {
      attempt(() => checkEnd(context, state, { writer, now }));
      const { entries, unread } = state;
      if (broken === undefined) return { entries, unread };
      const fault = { writerId: writer.id, sequence: broken.sequence, reason: broken.message };
      return { entries, unread, fault };
    },
  };
}

/** A head that was noted earlier is found where it was. */
export function meetNoted(noted: Map<string, string>, writerId: string, link: Link): Link {
  const place = placeOf(writerId, link.sequence);
  if (noted.get(place) === link.hash.toString('hex')) noted.delete(place);
  return link;
}

/** The first hash shows which key the chain has. */
function keyOf(keys: ChainKeys, { id, number, startedAt, genesisHash: hash }: ListedWriter): Uint8Array {
  const key = keys.find((candidate) => genesisHash(candidate, id, number, startedAt).equals(hash));
  if (key === undefined) throw new BrokenChain(null, REGISTRATION_CHANGED);
  return key;
}

function nextLink({ noted, unread }: WalkContext, state: WalkState, entry: ReadEntry): Link {
  const { key, link } = state;
  const { sequence, previousHash } = entry;
  if (sequence <= link.sequence) throw new BrokenChain(sequence, 'an entry was inserted');
  const missing = sequence - link.sequence - 1;
  if (missing > 0 && unread.size === 0) throw new BrokenChain(link.sequence + 1, 'an entry was removed');
  state.unread += missing;
  const follows = missing > 0 || link.hash.equals(previousHash);
  const hash = entryHash(key, previousHash, entry);
  if (!hash.equals(entry.hash) || !follows) throw new BrokenChain(sequence, 'an entry was changed');
  return meetNoted(noted, entry.writerId, { sequence, hash });
}

/** Where the next entries are archived, the sealed manifest says how the chain goes on after them. */
function passArchives({ archives, noted }: WalkContext, writer: ListedWriter, from: Link): Link {
  let link = from;
  for (;;) {
    const run = archives.runAt(writer.id, link.sequence + 1);
    if (run === undefined) return link;
    if (run.previousHash !== link.hash.toString('hex'))
      throw new BrokenChain(run.firstSequence, 'the archived entries do not follow the entry before them');
    link = meetNoted(noted, writer.id, {
      sequence: run.lastSequence,
      hash: Buffer.from(run.lastHash, 'hex'),
    });
  }
}

/** The head is as the walk found it, and there are no entries but those that follow one another. */
function checkEnd(
  { keys, unread }: WalkContext,
  state: WalkState,
  { writer, now }: { writer: ListedWriter; now: ListedWriter | undefined },
): void {
  const { link } = state;
  const missing = writer.lastSequence - link.sequence;
  if (missing > 0 && unread.size === 0)
    throw new BrokenChain(link.sequence + 1, 'entries at the end were removed');
  state.unread += missing;
  const sealed = headSeal(keys[0], writer.id, writer.lastSequence, writer.lastHash);
  const reached = missing > 0 || link.hash.equals(writer.lastHash);
  if (!reached || !sealed.equals(writer.headSeal))
    throw new BrokenChain(link.sequence, 'the head of the chain was changed');
  if (now === undefined) throw new BrokenChain(null, 'the registration was removed');
  if (state.beyond > now.lastSequence)
    throw new BrokenChain(null, 'there are entries that are not part of the chain');
  if (state.finerTime) throw new BrokenChain(null, 'a time was changed');
}
