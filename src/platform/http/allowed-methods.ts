/**
 * Which methods a path takes, for the answer to one that it does not take (RFC 9110 section 15.5.6).
 * Contract: HTTP-13, HTTP-14.
 */
import type { Words } from '../words/words.ts';
import { HttpError, NO_SUCH_PATH } from './errors.ts';

export interface AllowedMethods {
  /** `path` as it is registered: `/a/:id`, or `/a/*` for all below. */
  add(method: string | readonly string[], path: string): void;
  /**
   * The 405 of a path that takes other methods, and the 404 of a path that takes none. `target` may have a query. `method`
   * is one that was taken by a path which goes on in any way, and found nothing there.
   */
  refusal(target: string, method?: string): HttpError;
  /** Every method that some path takes, as the value of `allow`. */
  all(): string;
}

/** `wordsOf`: what the 404 of an unknown path says there, instead of the usual; undefined elsewhere. */
export function createAllowedMethods(
  wordsOf: (path: string) => Words | undefined = () => undefined,
): AllowedMethods {
  const methodsOf = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  const listed = (entries: Iterable<{ methods: Set<string> }>) =>
    [...new Set([...entries].flatMap(({ methods }) => [...methods]))].sort().join(', ');
  return {
    add(method, path) {
      const known = methodsOf.get(path) ?? { pattern: patternOf(path), methods: new Set() };
      methodsOf.set(path, known);
      for (const one of [method].flat()) known.methods.add(one);
    },
    refusal(target, method) {
      const path = decoded(target.split('?', 1)[0] ?? '');
      const taken = [...methodsOf].filter(([, { pattern }]) => pattern.test(path));
      const named = taken.filter(([path]) => !path.endsWith('*'));
      const methods = listed((named.length > 0 ? named : taken).map(([, entry]) => entry));
      if (methods === '' || methods.split(', ').includes(method ?? ''))
        return new HttpError(404, 'not_found', wordsOf(path) ?? NO_SUCH_PATH);
      const message = {
        en: `This path does not support the method of the request. It supports ${methods}.`,
        fr: `Ce chemin n’accepte pas la méthode de la requête. Il accepte ${methods}.`,
      };
      return new HttpError(405, 'method_not_allowed', message, { headers: { allow: methods } });
    },
    all: () => listed(methodsOf.values()),
  };
}

/** As the router reads it: `/%70atients` is `/patients`, and `%2F` is no slash. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function patternOf(path: string): RegExp {
  const parts = path.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('/')}$`);
}
