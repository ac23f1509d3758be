/** The tables of docs/fhir-mapping.md that explain where an answer differs from its source. */
import { readFileSync } from 'node:fs';

const MAPPING = new URL('../../docs/fhir-mapping.md', import.meta.url);

const KINDS = ['left out', 'added', 'changed', 'reordered'];

/** Those of `differences` (`kind path`) that the tables do not explain. */
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
    const [, elements, second = ''] = /^\| (`[^|]+`) \| ([^|]+) \|/.exec(line) ?? [];
    if (elements === undefined) return [];
    // In the table of elements that stay out, the reason follows.
    const kind = KINDS.includes(second) ? second : 'left out';
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
