/** Headers with which a request cannot be understood, whatever its path is. Contract: HTTP-15, HTTP-20. */
import type { IncomingMessage } from 'node:http';
import type { Words } from '../words/words.ts';
import { HttpError } from './errors.ts';

/** Headers of one value (RFC 9110 section 5.3). Node.js keeps the first of several and drops the others. */
const SINGLE: ReadonlyMap<string, string> = new Map([
  ['authorization', 'Authorization'],
  ['content-type', 'Content-Type'],
  ['host', 'Host'],
]);

/** A host, perhaps with a port (RFC 3986 section 3.2), or nothing: the target may have no host. */
const HOST = /^(?:\[[\w:.%~-]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/;

/**
 * The 400 of a request whose headers are not sound: without Host, or with one that is no host (RFC 9112 section 3.2); with a
 * transfer coding that would have to be decoded, or with any in HTTP/1.0 (section 6.1); with two lines of a header that has one
 * value, also where they are equal. A proxy may have read them in another way.
 */
export function headerFault({ httpVersion, headers, rawHeaders }: IncomingMessage): HttpError | undefined {
  if (httpVersion === '1.1' && headers.host === undefined)
    return closing('host_missing', {
      en: 'The header Host is missing. Send it.',
      fr: 'L’en-tête Host manque. Envoyez-le.',
    });
  if (headers.host !== undefined && !HOST.test(headers.host))
    return closing('host_malformed', {
      en: 'The header Host holds no host. Send it as host or host:port.',
      fr: 'L’en-tête Host ne contient pas d’hôte. Envoyez-le sous la forme hôte ou hôte:port.',
    });
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && httpVersion === '1.0')
    return closing('transfer_coding', {
      en: 'HTTP/1.0 knows no transfer coding. Send the body with Content-Length, or with HTTP/1.1.',
      fr: 'HTTP/1.0 ne connaît aucun codage de transfert. Envoyez le corps avec Content-Length, ou en HTTP/1.1.',
    });
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return closing('transfer_coding', {
      en: 'The service takes no transfer coding but chunked. Send the body with chunked alone.',
      fr: 'Le service n’accepte que le codage de transfert chunked. Envoyez le corps avec chunked seul.',
    });
  const seen: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = SINGLE.get(rawHeaders[index]?.toLowerCase() ?? '');
    if (name === undefined) continue;
    if (seen.includes(name))
      return closing('header_repeated', {
        en: `The header ${name} was sent more than once. Send it once.`,
        fr: `L’en-tête ${name} a été envoyé plusieurs fois. Envoyez-le une seule fois.`,
      });
    seen.push(name);
  }
  return undefined;
}

/** What follows on the connection may be meant for somebody else. */
function closing(code: string, words: Words): HttpError {
  return new HttpError(400, code, words, { headers: { connection: 'close' } });
}
