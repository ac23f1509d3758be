/**
 * Work that runs a few at a time and waits in a short queue, shared fairly between networks. Networks are
 * served in turn. When the queue is full, who has the most waiting makes room for who has less; what does not
 * fit is refused at once (docs/adr/0005).
 * Contract: SIGN-IN-20, SEC-9.
 */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/cache-size.ts';

export interface BoundedWork {
  /** Run when a place is free. Throws what `overloaded` makes when there is none, or when it is lost to another network. */
  run<T>(network: string, work: () => Promise<T>): Promise<T>;
  /** Throws like `run` when there is no place for this network; takes none. */
  assertCapacity(network: string): void;
  /** From now on the network weighs less, so that it finds room where unknown ones wait. */
  prefer(network: string): void;
}

export interface BoundedWorkOptions {
  /** Running at once. */
  concurrency: number;
  /** Waiting at most. */
  queue: number;
  overloaded: () => Error;
}

interface Waiter {
  start: () => void;
  refuse: (error: Error) => void;
}

const PREFERRED_NETWORKS = 10_000;
const PREFERRED_WEIGHT = 1 / 4;

export function createBoundedWork({ concurrency, queue, overloaded }: BoundedWorkOptions): BoundedWork {
  /** In the order in which networks are served; one that was served goes to the end. */
  const waiting = new Map<string, Waiter[]>();
  const preferred = new LRUCache<string, true>(atMost(PREFERRED_NETWORKS));
  let running = 0;
  let waiters = 0;

  function load(network: string, count: number): number {
    return preferred.has(network) ? count * PREFERRED_WEIGHT : count;
  }

  /** The network that makes room for one more of `network`; undefined when none has more than it would have. */
  function heavierThan(network: string): string | undefined {
    const own = load(network, (waiting.get(network)?.length ?? 0) + 1);
    let heaviest: { network: string; load: number } | undefined;
    for (const [other, { length }] of waiting)
      if (load(other, length) > Math.max(own, heaviest?.load ?? 0))
        heaviest = { network: other, load: load(other, length) };
    return heaviest?.network;
  }

  function isFull(): boolean {
    return running >= concurrency && waiters >= queue;
  }

  function assertCapacity(network: string): void {
    if (isFull() && heavierThan(network) === undefined) throw overloaded();
  }

  function makeRoom(network: string): void {
    if (!isFull()) return;
    const heaviest = heavierThan(network);
    const last = heaviest === undefined ? undefined : take(heaviest, 'newest');
    if (last === undefined) throw overloaded();
    last.refuse(overloaded());
  }

  function wait(network: string): Promise<void> {
    return new Promise((start, refuse) => {
      const own = waiting.get(network) ?? [];
      own.push({ start, refuse });
      waiting.set(network, own);
      waiters += 1;
    });
  }

  function take(network: string, which: 'oldest' | 'newest'): Waiter | undefined {
    const own = waiting.get(network) ?? [];
    const waiter = which === 'oldest' ? own.shift() : own.pop();
    if (waiter !== undefined) waiters -= 1;
    if (own.length === 0) waiting.delete(network);
    return waiter;
  }

  /** The place passes to the network whose turn it is; it never looks free in between. */
  function passOn(): void {
    const [network] = waiting.keys();
    const next = network === undefined ? undefined : take(network, 'oldest');
    if (network === undefined || next === undefined) {
      running -= 1;
      return;
    }
    const rest = waiting.get(network);
    if (rest !== undefined && waiting.delete(network)) waiting.set(network, rest);
    next.start();
  }

  async function run<T>(network: string, work: () => Promise<T>): Promise<T> {
    makeRoom(network);
    if (running >= concurrency) await wait(network);
    else running += 1;
    try {
      return await work();
    } finally {
      passOn();
    }
  }

  return { run, assertCapacity, prefer: (network) => void preferred.set(network, true) };
}
