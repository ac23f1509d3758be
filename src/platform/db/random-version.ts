/**
 * SQL of a first version for a row that may be removed and made again under the same id: a random whole number below
 * 2^52. A JavaScript number holds it exactly, and what it grows to by one with each change.
 * Contract: FETCH-22.
 */
export const RANDOM_VERSION = '(random() * 4503599627370496)::bigint';
