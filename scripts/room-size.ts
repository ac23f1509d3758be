/** How many files a room holds (CONTRIBUTING.md). Contract: OPS-21. */
import { dirname } from 'node:path/posix';

const MOST_FILES = 16;

/** One sentence for each folder with too many files. Tests do not count. */
export function roomViolations(paths: readonly string[]): string[] {
  const rooms = Map.groupBy(
    paths.filter((path) => !/\.test\.\w+$/.test(path)),
    (path) => dirname(path),
  );
  return [...rooms]
    .filter(([, files]) => files.length > MOST_FILES)
    .map(
      ([room, files]) =>
        `${room}: holds ${files.length} files beside its tests, and a room holds at most ${MOST_FILES}. Give what belongs together a room of its own.`,
    );
}
