/** Finds the name that a misspelt one stands for. */

/** The nearest of `known` to `given`, which is none of them; undefined where none is near. */
export function nameMeant(given: string, known: readonly string[]): string | undefined {
  const [meant] = known
    .filter((name) => isMisspelt(given, name))
    .sort((one, other) => distance(given, one) - distance(given, other));
  return meant;
}

/** More letters that are wrong make another name. */
const MOST_WRONG = 2;

/** Whether `given` is `known` in other letters: in another case, with `_` or `-`, or with up to two letters wrong. */
function isMisspelt(given: string, known: string): boolean {
  if (Math.abs(given.length - known.length) > 4 || !/^[\w-]+$/.test(given)) return false;
  return distance(given, known) <= Math.min(MOST_WRONG, Math.floor(known.length / 2) - 1);
}

/**
 * How many letters are to be put in, taken out or changed to make `known` of `given` (Levenshtein); their case, `_` and `-` aside.
 * Infinite once it is sure to be more than {@link MOST_WRONG}: an import asks of each resource of a type that R4 does not have.
 */
function distance(given: string, known: string): number {
  const [a, b] = [plain(given), plain(known)];
  if (Math.abs(a.length - b.length) > MOST_WRONG) return Number.POSITIVE_INFINITY;
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of Array.from(a).entries()) {
    let last = row + 1;
    above = above.map((here, column) => {
      if (column === 0) return last;
      const changed = (above[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1);
      last = Math.min(here + 1, last + 1, changed);
      return last;
    });
    if (above.every((wrong) => wrong > MOST_WRONG)) return Number.POSITIVE_INFINITY;
  }
  return above[b.length] ?? 0;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}
