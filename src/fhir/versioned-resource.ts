/** The answer of a read: one FHIR resource of one version, or 304 for a caller that has it. Contract: ENC-32. */
import type { TSchema } from 'typebox';
import { matchesEtag, weakEtag } from '../platform/http/etag.ts';
import type { Reply, RequestContext, ResponseDocs, ResponseHeader } from '../platform/http/route.ts';
import { FHIR_JSON } from './media-type.ts';

export const CONDITIONAL_READ =
  'The answer has `ETag` and `Last-Modified`. With `If-None-Match` it is 304 if you already have the current version.';

const HEADERS: readonly ResponseHeader[] = ['etag', 'last-modified'];

export function versionedResponses(description: string, schema: TSchema): Record<number, ResponseDocs> {
  return {
    200: { description, schema, mediaType: 'application/fhir+json', headers: HEADERS },
    304: {
      description: 'You already have the current version: If-None-Match names it.',
      headers: HEADERS,
    },
  };
}

interface Validators {
  version: number;
  lastUpdated: string;
  /** Of what the answer has beside the version; see {@link weakEtag}. */
  variant?: string | undefined;
}

export function versionedReply(
  request: Pick<RequestContext, 'headers'>,
  { version, lastUpdated, variant }: Validators,
  body: () => unknown,
): Reply {
  const etag = weakEtag(version, variant);
  const headers = { etag, 'last-modified': new Date(lastUpdated).toUTCString() };
  if (matchesEtag(request.headers['if-none-match'], etag)) return { status: 304, headers };
  return { headers, contentType: FHIR_JSON, body: body() };
}
