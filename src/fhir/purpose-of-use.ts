/** Purpose of use. Contract: ENC-12, LOG-1. */
import { named } from '../platform/http/named-schema.ts';
import { Choice } from '../platform/http/schema.ts';

export const PURPOSES_OF_USE = ['TREATMENT', 'PAYMENT', 'OPS', 'RESEARCH'] as const;
export type PurposeOfUse = (typeof PURPOSES_OF_USE)[number];
/** What a route that does not require a purpose takes when none is named. */
export const DEFAULT_PURPOSE_OF_USE: PurposeOfUse = 'OPS';

export const PurposeOfUseSchema = named('PurposeOfUse', Choice(PURPOSES_OF_USE));
