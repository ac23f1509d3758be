/** The parts that routes, workers and commands of features share, built once for a process. */
import { type CursorCodec, createCursorCodec } from '../platform/http/cursor.ts';
import { createSignIn, type SignIn } from '../sign-in/sign-in.ts';
import { eraseExpiredReplacements, sweepSignIn } from '../sign-in/sweep.ts';
import type { Runtime } from './build-runtime.ts';
import type { HousekeepingStep } from './build-worker.ts';

/** What the route table hands to routes; each takes what it needs of it. */
export interface Features extends Runtime, SignIn {
  publicBaseUrl: string;
  cursors: CursorCodec;
}

export async function buildFeatures(runtime: Runtime, publicBaseUrl: string): Promise<Features> {
  return {
    ...runtime,
    ...createSignIn({ ...runtime, settings: runtime.config.signIn }),
    publicBaseUrl,
    cursors: createCursorCodec(runtime.keys.derive('cursor')),
  };
}

/** What the worker does about once a minute. */
export function housekeepingSteps({ db }: Runtime, _features: Features): HousekeepingStep[] {
  return [
    { name: 'refresh-replacements', run: async (now) => void (await eraseExpiredReplacements(db, now)) },
    { name: 'sign-in', run: async (now) => void (await sweepSignIn(db, now)) },
  ];
}
