/**
 * SQL of a first version for a row that may be removed and made again under the same id: a whole number below
 * 2^52, at random, which a JavaScript number holds exactly for as long as it grows by one.
 * Contract: FETCH-22.
 */
export const RANDOM_VERSION = '(random() * 4503599627370496)::bigint';
