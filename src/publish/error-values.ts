/** What the errors of a publish are worded with, in each language. */
import type { Words } from '../platform/words/words.ts';

/** Local codes in one message, at most. */
export const MAX_LISTED = 50;

/** Where a publish stopped. */
export interface Stopped {
  target: string;
  /** `Type id`. */
  record: string;
  /** Of the FHIR server, in codes. */
  reason: Words;
  stored: number;
  all: number;
  /** As the FHIR server said it. */
  retryAfterSeconds?: number;
}
