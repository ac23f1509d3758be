/** Says at the start when the console is not there, or is not that of its sources. Contract: WEB-2. */
import type { Log } from '../../platform/log/log.ts';
import { consoleBuild } from './console-build.ts';

const WARNINGS = {
  missing: 'the console is not built: run npm run console:build; the API does not need it',
  'older-than-sources': 'the console is older than its sources: run npm run console:build',
};

export function warnOfBuild(log: Log, build = consoleBuild()): void {
  if (build !== 'built') log.warn({ event: 'console' }, WARNINGS[build]);
}
