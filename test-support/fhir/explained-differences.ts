/** The table of docs/fhir-mapping.md that explains where an answer differs from its source. */
import { readFileSync } from 'node:fs';

const MAPPING = new URL('../../docs/fhir-mapping.md', import.meta.url);

/** Those of `differences` (`kind path`) that the table does not explain. */
export function unexplained(differences: Iterable<string>): string[] {
  const explained = rows();
  return [...differences].filter(
    (difference) =>
      !explained.some(({ kind, matches }) => difference.startsWith(`${kind} `) && matches(difference)),
  );
}

function rows(): { kind: string; matches: (difference: string) => boolean }[] {
  const lines = readFileSync(MAPPING, 'utf8').split('\n');
  const table = lines.flatMap((line) => {
    const [, elements, kind] = /^\| (`[^|]+`) \| (left out|added|changed|reordered) \|/.exec(line) ?? [];
    if (elements === undefined || kind === undefined) return [];
    return [...elements.matchAll(/`([^`]+)`/g)].map(([, pattern = '']) => ({ kind, pattern }));
  });
  return table.map(({ kind, pattern }) => ({
    kind,
    matches: (difference) => {
      const path = difference.slice(kind.length + 1);
      return pattern.startsWith('*') ? path.endsWith(pattern.slice(1)) : path === pattern;
    },
  }));
}
