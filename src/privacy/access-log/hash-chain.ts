/** The hash chain of the access log: what an entry's hash covers. Contract: LOG-14. */
import { createHmac } from 'node:crypto';
import type { AccessEntry } from './access-log.ts';

/** An entry with its place in the chain of one writer. */
export interface ChainedEntry extends AccessEntry {
  occurredAt: Date;
  writerId: string;
  sequence: number;
}

/** Where an entry stands, as a key of maps. */
export function placeOf(writerId: string, sequence: number): string {
  return `${writerId}/${sequence}`;
}

/**
 * HMAC-SHA256 over the previous hash and every field of the entry, in a fixed order. UUIDs count as the database
 * gives them back, in lower case, however the caller wrote them.
 */
export function entryHash(key: Uint8Array, previousHash: Uint8Array, entry: ChainedEntry): Buffer {
  return createHmac('sha256', key)
    .update(previousHash)
    .update(
      JSON.stringify([
        entry.writerId,
        entry.sequence,
        entry.occurredAt.toISOString(),
        entry.organisationId.toLowerCase(),
        entry.facilityId.toLowerCase(),
        entry.patientId.toLowerCase(),
        entry.accountId.toLowerCase(),
        entry.action,
        entry.resourceType,
        entry.resourceId?.toLowerCase() ?? null,
        entry.purposeOfUse,
        entry.outcome,
        entry.correlationId,
      ]),
    )
    .digest();
}

/** The hash that a writer's chain starts from; it covers the writer's number, so that no writer can vanish. */
export function genesisHash(key: Uint8Array, writerId: string, number: number, startedAt: Date): Buffer {
  return sealOver(key, ['genesis', writerId, number, startedAt.toISOString()]);
}

/** What seals how many writers there are, so that the newest cannot vanish either. */
export function registrySeal(key: Uint8Array, lastNumber: number): Buffer {
  return sealOver(key, ['writers', lastNumber]);
}

/** What seals a writer's head, so that its last entries cannot be cut off without a trace. */
export function headSeal(key: Uint8Array, writerId: string, sequence: number, lastHash: Uint8Array): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify(['head', writerId, sequence]))
    .update(lastHash)
    .digest();
}

/** What seals the record of a restore: only who has the key can say that the operator put the database back. */
export function restoreSeal(
  key: Uint8Array,
  { id, restoredAt, backupTakenAt }: { id: string; restoredAt: Date; backupTakenAt: Date | null },
): Buffer {
  return sealOver(key, ['restore', id, restoredAt, backupTakenAt]);
}

/** Begins with what kind of seal it is, so that none stands for another. */
export function sealOver(key: Uint8Array, parts: readonly unknown[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest();
}
