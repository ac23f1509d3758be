/** The parts that routes, workers and commands of features share, built once for a process. */
import { createCursorCodec, type CursorCodec } from '../platform/http/cursor.ts';
import type { TokenIdentity } from '../tenancy/caller.ts';
import type { HousekeepingStep } from './build-worker.ts';
import type { Runtime } from './build-runtime.ts';

/** What the route table hands to routes; each takes what it needs of it. */
export interface Features extends Runtime {
  publicBaseUrl: string;
  cursors: CursorCodec;
  verifyAccessToken: (token: string, now: Date) => Promise<TokenIdentity>;
}

export async function buildFeatures(runtime: Runtime, publicBaseUrl: string): Promise<Features> {
  return {
    ...runtime,
    publicBaseUrl,
    cursors: createCursorCodec(runtime.keys.derive('cursor')),
    verifyAccessToken: async () => {
      throw new Error('sign-in is not wired yet');
    },
  };
}

/** What the worker does about once a minute. */
export function housekeepingSteps(_runtime: Runtime, _features: Features): HousekeepingStep[] {
  return [];
}
