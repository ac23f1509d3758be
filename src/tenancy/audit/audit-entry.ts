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

/** What an entry may say was done. */
export const AUDIT_ACTIONS = [
  'organisation.create',
  'facility.create',
  'facility.change',
  'role.create',
  'role.change',
  'role.delete',
  'account.create',
  'account.change',
  'account.disable',
  'account.enable',
  'account.unlock',
  'account.reset-password',
  'account.remove-second-factor',
  'account.end-sessions',
  'account.change-password',
  'account.set-up-password',
  'account.add-own-factor',
  'account.remove-own-factor',
  'account.renew-recovery-codes',
  'connection.create',
  'connection.change',
  'connection.rotate-secret',
  'connection.activate-secret',
  'connection.resync',
  'delivery.replay',
  'delivery.skip',
  'patient.privacy',
  'terminology-map.put',
  'terminology-map.delete',
  'terminology-map.import',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Members and their values; never a secret, a clinical value or a name of a patient. */
export type AuditedMembers = Readonly<Record<string, unknown>>;

export interface AuditEntry {
  action: AuditAction;
  subject: { type: SubjectType; id: string; name?: string | undefined };
  /** Facilities that it concerns; null: the whole organisation. */
  facilityIds: readonly string[] | null;
  before?: AuditedMembers;
  after?: AuditedMembers;
}
