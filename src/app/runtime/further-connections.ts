import { MAX_CHAINS } from '../../privacy/access-log/access-log.writer.ts';

/** How many connections a process takes at most beside DATABASE_CONNECTIONS, as docs/operations.md says, "Processes". */
export const FURTHER_CONNECTIONS = {
  /** Four imports at once (src/records/import), housekeeping, and one to spare. */
  background: 6,
  /** Each import that is a dry run has one of its own. */
  dryRuns: 4,
  live: 1,
  accessLog: MAX_CHAINS,
  owner: 2,
  /** src/app/master-key/service-keys.ts. */
  keys: 1,
  /** Of the delivery worker. */
  deliveries: 6,
  /** For organisations that deliveries fail for: a database that is slow to refuse them keeps no other waiting. */
  failingDeliveries: 2,
} as const;
