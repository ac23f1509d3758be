/**
 * The publishes of this process that wait for leases. They take turns, so that only one of them asks the database.
 * Contract: PUB-37, PUB-38.
 */
import { publishError } from '../errors.ts';

/** A place in the queue for one lease. Whoever has the turn asks for the lease, and keeps the turn while holding it. */
export interface Turn {
  isNow(): boolean;
  /** Resolves when the turn has come. */
  comes: Promise<void>;
  /** Let the next one have its turn. */
  end(): void;
}

export interface Waiting {
  /** `lease`: a name for what is leased. */
  join(lease: string): Turn;
  /** Count one more waiting publish of the account, until the returned function is called. Throws when there are too many. */
  count(accountId: string): () => void;
}

export function createWaiting(mostOfAccount: number): Waiting {
  const lines = new Map<string, (() => void)[]>();
  const counts = new Map<string, number>();
  return {
    join(lease) {
      const { promise: comes, resolve: call } = Promise.withResolvers<void>();
      const line = lines.get(lease) ?? [];
      lines.set(lease, line);
      line.push(call);
      if (line[0] === call) call();
      return {
        isNow: () => line[0] === call,
        comes,
        end() {
          line.splice(line.indexOf(call), 1);
          line[0]?.();
          if (line.length === 0) lines.delete(lease);
        },
      };
    },
    count(accountId) {
      const before = counts.get(accountId) ?? 0;
      if (before >= mostOfAccount) throw publishError('too_many_waiting', { count: before });
      counts.set(accountId, before + 1);
      return () => {
        const now = counts.get(accountId) ?? 0;
        if (now > 1) counts.set(accountId, now - 1);
        else counts.delete(accountId);
      };
    },
  };
}
