/** The parts that routes, workers and commands of features share, built once for a process. */
import { type CursorCodec, createCursorCodec } from '../platform/http/cursor.ts';
import { createAuthenticator, type VerifyAccessToken } from '../sign-in/authenticate.ts';
import { createSigningKeys, type SigningKeys } from '../sign-in/signing-keys.ts';
import type { Runtime } from './build-runtime.ts';
import type { HousekeepingStep } from './build-worker.ts';

/** What the route table hands to routes; each takes what it needs of it. */
export interface Features extends Runtime {
  publicBaseUrl: string;
  cursors: CursorCodec;
  signingKeys: SigningKeys;
  verifyAccessToken: VerifyAccessToken;
}

export async function buildFeatures(runtime: Runtime, publicBaseUrl: string): Promise<Features> {
  const signingKeys = createSigningKeys({
    ...runtime,
    accessTokenSeconds: runtime.config.signIn.accessTokenSeconds,
  });
  return {
    ...runtime,
    publicBaseUrl,
    signingKeys,
    verifyAccessToken: createAuthenticator(signingKeys),
    cursors: createCursorCodec(runtime.keys.derive('cursor')),
  };
}

/** What the worker does about once a minute. */
export function housekeepingSteps(_runtime: Runtime, _features: Features): HousekeepingStep[] {
  return [];
}
