import { MAX_CHAINS } from '../../privacy/access-log/access-log.writer.ts';
import { CONCURRENT_BODIES } from '../../records/import/source/limits.ts';

/** How many connections a process takes at most beside DATABASE_CONNECTIONS, as docs/operations.md says, "Processes". */
export const FURTHER_CONNECTIONS = {
  /** Imports, housekeeping, and one to spare. */
  background: CONCURRENT_BODIES + 2,
  /** Each import that is a dry run has one of its own. */
  dryRuns: CONCURRENT_BODIES,
  /** One, which no pool holds (src/platform/db/connection/live-connection.ts). */
  live: 1,
  accessLog: MAX_CHAINS,
  owner: 2,
  /** Let go of when it is idle: keys are read seldom. */
  keys: 1,
  /** Of the delivery worker. */
  deliveries: 6,
  /** For organisations that deliveries fail for: a database that is slow to refuse them keeps no other waiting. */
  failingDeliveries: 2,
} as const;
