/** What a body is sent as, and what a caller wants to be answered: media types and encodings. Contract: HTTP-3, HTTP-15. */
import { HttpError } from './errors.ts';
import type { RequestHeaders } from './route.ts';

/** The media type in lower case, without its parameters; empty when the header is missing. */
export function mediaTypeOf(headers: RequestHeaders): string {
  return firstWord(headers['content-type']);
}

/** What a header says before its parameters, in lower case; empty when it is missing. */
export function firstWord(header: RequestHeaders[string]): string {
  return (
    String(header ?? '')
      .split(';')[0]
      ?.trim()
      .toLowerCase() ?? ''
  );
}

/** Whether the caller asks for one of these by its name, not by a wildcard. */
export function namesMediaType(accept: string | undefined, types: readonly string[]): boolean {
  if (accept === undefined) return false;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return types.includes(type) && !parameters.some((one) => /^q\s*=\s*0(\.0*)?$/.test(one));
  });
}

/** 415 unless the body has one of these media types and no content encoding. */
export function requireContentType(headers: RequestHeaders, taken: readonly string[]): void {
  if (!taken.includes(mediaTypeOf(headers))) throw contentTypeRefused(taken);
  const encoding = String(headers['content-encoding'] ?? 'identity');
  if (!/^\s*identity\s*$/i.test(encoding))
    throw new HttpError(
      415,
      'content_encoding',
      {
        en: 'This call does not accept a compressed body. Send it without a content encoding.',
        fr: 'Cet appel n’accepte pas de corps compressé. Envoyez-le sans codage de contenu.',
      },
      { headers: { 'accept-encoding': 'identity' } },
    );
}

/** 415 with the media types that are taken. */
export function contentTypeRefused(taken: readonly string[]): HttpError {
  return new HttpError(415, 'media_type', {
    en: `This call does not accept that content type. Send ${taken.join(' or ')}.`,
    fr: `Cet appel n’accepte pas ce type de contenu. Envoyez ${taken.join(' ou ')}.`,
  });
}
