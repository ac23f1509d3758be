/** What a publish and the commands of FHIR servers refuse, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import type { Words } from '../platform/words/words.ts';
import { MAX_LISTED, type Stopped } from './error-values.ts';
import { french } from './errors.fr.ts';

const UNMAPPED_BEGINS = 'These local codes have no standard code';

/**
 * The recorded failure of a publish without the local codes that it may list: they say what was measured, so they are for
 * those who see whose record it is.
 */
export function failureWithoutCodes(failure: string): string {
  return failure.startsWith(UNMAPPED_BEGINS)
    ? 'Local codes have no standard code. Nothing was sent. Map the codes in the terminology maps.'
    : failure;
}

const PUT_REFUSED = { en: 'PUT answered 422 (error invalid)', fr: 'PUT a reçu 422 (error invalid)' };
const UNANSWERED = {
  en: 'PUT was not answered (ETIMEDOUT)',
  fr: 'PUT est resté sans réponse (ETIMEDOUT)',
};

const STOPPED: Stopped = {
  target: 'national',
  record: 'Observation 8d3f2f06-9a51-4c52-8a07-6b1f0f4a2c11',
  reason: PUT_REFUSED,
  stored: 1,
  all: 3,
};

const stoppedText = ({ target, record, reason, stored, all }: Stopped) =>
  `Publishing to ${target} stopped at ${record}: ${reason.en}. ${stored} of ${all} resources are stored there by this publish. Publish again to continue.`;

export const publishError = domainErrors(
  {
    no_such_target: {
      status: 400,
      text: 'There is no target of that name. Correct the name, or leave target out to use the default target.',
    },
    order_replaced: {
      status: 409,
      text: 'Another order replaced this one while the publish waited. Publish again.',
    },
    patient_changed: { status: 409, text: 'The record now belongs to another patient. Publish again.' },
    part_moved: {
      status: 409,
      text: 'A part of the record was moved to another record while it was published. What was stored is recorded. Publish again.',
    },
    unmapped_codes: {
      status: 422,
      text: ({ codes }: { codes: readonly string[] }) => {
        const more = codes.length > MAX_LISTED ? ` and ${codes.length - MAX_LISTED} more` : '';
        return `${UNMAPPED_BEGINS}: ${codes.slice(0, MAX_LISTED).join(', ')}${more}. Nothing was sent. Map the codes in the terminology maps, or ask the operator to allow local codes at the target.`;
      },
      example: { codes: ['http://hospital.example/lab|GLU'] },
    },
    circuit_open: {
      status: 502,
      text: ({ target, retryAfterSeconds }: { target: string; retryAfterSeconds: number }) =>
        `The target ${target} has not answered several times in a row. Nothing was sent. Publish again in ${retryAfterSeconds} seconds.`,
      example: { target: 'national', retryAfterSeconds: 12 },
    },
    target_refused: { status: 502, text: stoppedText, example: STOPPED },
    target_unavailable: {
      status: 502,
      text: stoppedText,
      example: { ...STOPPED, reason: UNANSWERED },
    },
    no_target: {
      status: 503,
      retryAfterSeconds: 60,
      text: 'There is no default target. Name a target with ?target=, or ask the operator to add one (interchange target create) or to make one the default (interchange target update --default).',
    },
    target_disabled: {
      status: 503,
      retryAfterSeconds: 60,
      text: ({ target }: { target: string }) =>
        `The target ${target} is disabled. Ask the operator to enable it.`,
      example: { target: 'national' },
    },
    target_address: {
      status: 503,
      retryAfterSeconds: 60,
      text: 'The address of the target is not allowed. Ask the operator to change it: interchange target update --base.',
    },
    target_secret: {
      status: 503,
      retryAfterSeconds: 60,
      text: 'The secret of the target cannot be opened with the master key. Ask the operator to set it again: interchange target rotate-secret.',
    },
    publish_busy: {
      status: 503,
      retryAfterSeconds: 10,
      text: ({ records }: { records: Words }) =>
        `Another publish of ${records.en} is running. Publish again when it has ended.`,
      example: { records: { en: 'this record or this patient', fr: 'ce dossier ou de ce patient' } },
    },
    too_many_waiting: {
      status: 503,
      retryAfterSeconds: 10,
      text: ({ count }: { count: number }) =>
        `${count} publishes of this account are waiting already, which is the limit. Nothing was sent. Wait for their answers, then publish again.`,
      example: { count: 20 },
    },
    target_changed: {
      status: 503,
      retryAfterSeconds: 1,
      text: ({ target }: { target: string }) =>
        `The target ${target} was changed while this publish waited for another. Nothing was sent. Publish again.`,
      example: { target: 'national' },
    },
    publish_overtaken: {
      status: 503,
      retryAfterSeconds: 5,
      text: 'The database did not answer, or the machine was suspended, for so long that another publish may have taken over. What was stored is recorded. Publish again to continue.',
    },
    bad_target_setting: { exitCode: 2, text: ({ problem }: { problem: string }) => problem },
    target_exists: {
      text: ({ name }: { name: string }) =>
        `A target named ${name} exists already. Change it with: npx interchange target update`,
    },
    unknown_target: {
      text: ({ name, ofAll }: { name: string; ofAll: boolean }) =>
        `There is no target ${name} ${ofAll ? 'of all organisations. For a target of one organisation, add --organisation <id>' : 'of this organisation'}. List targets with: npx interchange target list`,
    },
    target_has_recorded_ids: {
      text: ({ name, base }: { name: string; base: string }) =>
        `The service has recorded ids of the server at ${base} for the target ${name}. Nothing was changed. Say whether the new address leads to the same server: --keep-ids if it does, --forget-ids if it is another server or a newly installed one.`,
    },
    target_without_authentication: {
      text: ({ name }: { name: string }) => `The target ${name} has no authentication.`,
    },
  },
  french,
);
