/**
 * The places of imports over HTTP: one for an organisation, `CONCURRENT_BODIES` for the process. Systems that send records as
 * they are made meet each other for a moment, so a place is waited for (docs/adr/0082).
 */
import { CONCURRENT_BODIES } from '../source/limits.ts';

export interface ImportPlaces {
  /** Resolves when there is a place for the organisation. Takes none. Throws what `busy` makes when none came free in time. */
  free(organisationId: string): Promise<void>;
  /** Takes a place, in the order of the calls, or throws like `free`. Resolves to what gives it back. */
  take(organisationId: string): Promise<() => void>;
}

export interface ImportPlacesOptions {
  waitMs: number;
  /** Makes the error: an import of the same organisation has the place, or imports of others have all places. */
  busy: (isOfOrganisation: boolean) => Error;
}

export function createImportPlaces({ waitMs, busy }: ImportPlacesOptions): ImportPlaces {
  const active = new Set<string>();
  /** In the order in which they came. Each takes what it waits for, when it is free. */
  const waiting = new Set<() => void>();

  async function whenFree(organisationId: string, onFree: () => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const attempt = (): void => {
      if (active.has(organisationId) || active.size >= CONCURRENT_BODIES) return;
      waiting.delete(attempt);
      onFree();
      resolve();
    };
    waiting.add(attempt);
    attempt();
    const timer = setTimeout(() => reject(busy(active.has(organisationId))), waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(attempt);
    }
  }

  return {
    free: (organisationId) => whenFree(organisationId, () => undefined),
    async take(organisationId) {
      await whenFree(organisationId, () => active.add(organisationId));
      return () => {
        active.delete(organisationId);
        for (const attempt of waiting) attempt();
      };
    },
  };
}
