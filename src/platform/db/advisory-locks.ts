import { hash } from 'node:crypto';

/**
 * The advisory locks of the service, in one place so that no two share a number. Locks over one thing of many
 * (an import's conditions, a terminology map) take a 64-bit hash of its name instead.
 */
export const ADVISORY_LOCKS = {
  /** One process migrates at a time. */
  migrations: 7_246_318_001,
  /** Serialises the numbering of access log writers. */
  accessLogWriters: 7_246_318_002,
  /** Changes of the set of signing keys take turns. */
  signingKeys: 7_246_318_003,
  /** One process at a time makes partitions of the access log, takes them out of it, or renews the rights on all tables. */
  accessLogPartitions: 7_246_318_004,
  /** One command at a time archives the access log. */
  accessLogArchive: 7_246_318_105,
  /** Held shared by whoever seals under the newest data key, alone by whoever renews it. */
  dataKeys: 7_246_318_005,
  /** One command at a time replaces the key file of the embedded database. */
  keyFile: 7_246_318_008,
  /** Targets are made, renamed and made the default one after the other. */
  publishTargets: 7_246_318_006,
  /** One process at a time makes the demo organisation. */
  demo: 7_246_318_007,
} as const;

/** The number of a lock over one thing of many: a hash of the thing's name. */
export function lockNumber(name: string): string {
  return hash('sha256', name, 'buffer').readBigInt64BE(0).toString();
}
