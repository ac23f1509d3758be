/** One entry of the record of changes. */
export const SUBJECT_TYPES = [
  'organisation',
  'facility',
  'role',
  'account',
  'connection',
  'deliveries',
  'patient',
  'terminology-map',
] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];

/** Members and their values; never a secret, a clinical value or a name of a patient. */
export type Members = Readonly<Record<string, unknown>>;

export interface AuditEntry {
  /** Dotted: `account.disable`. */
  action: string;
  subject: { type: SubjectType; id: string; name?: string | undefined };
  /** Facilities that it concerns; null: the whole organisation. */
  facilityIds: readonly string[] | null;
  before?: Members;
  after?: Members;
}
