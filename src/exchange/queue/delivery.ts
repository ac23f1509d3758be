/** A delivery as it is reviewed. */
import type { DeliveryEvent } from './envelope.ts';
import type { DeliveryAttempt } from './lane.store.ts';

export const DELIVERY_STATUSES = ['queued', 'held', 'delivered', 'skipped'] as const;
/** Where a delivery stands; it follows from the head of its lane (docs/adr/0020). */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface Delivery {
  id: string;
  organisationId: string;
  connectionId: string;
  patientId: string;
  facilityId: string;
  /** Of the patient. */
  refusedPurposes: string[];
  sequence: number;
  event: DeliveryEvent;
  occurredAt: Date;
  /** False once retention has removed it. */
  hasPayload: boolean;
  status: DeliveryStatus;
  heldAt: Date | null;
  heldReason: string | null;
  /** Null unless it is next in its lane and not held. */
  nextAttemptAt: Date | null;
  lastAttempt: {
    startedAt: Date;
    outcome: DeliveryAttempt['outcome'];
    status: number | null;
    /** Why there was no answer. */
    failure: string | null;
  } | null;
  /** What the exchange said of it last. */
  confirmation: { status: 'accepted' | 'rejected'; assignedId: string | null } | null;
}

/** Which deliveries are meant. What is undefined does not matter. */
export interface DeliveryFilter {
  ids?: readonly string[] | undefined;
  connectionId?: string | undefined;
  patientId?: string | undefined;
  facilityId?: string | undefined;
  heldReason?: string | undefined;
  /** Queued in [since, until). */
  since?: Date | undefined;
  until?: Date | undefined;
}

export interface DeliveryDetail extends Delivery {
  /** The hash of the answer in hex. */
  attempts: (Omit<DeliveryAttempt, 'responseHash'> & { responseHash: string | null; counted: boolean })[];
  reviews: { action: 'replay' | 'skip'; reason: string | null; accountId: string | null; decidedAt: Date }[];
}
