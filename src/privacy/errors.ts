/** What use cases refuse of privacy settings and the access log, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import { french } from './errors.fr.ts';

export const privacyError = domainErrors(
  {
    purpose_refused: {
      status: 403,
      text: 'The privacy setting of the patient refuses this purpose of use (OPS, if you sent none). Do not try again with the same purpose.',
    },
    access_log: {
      status: 503,
      retryAfterSeconds: 2,
      text: 'The access log could not be written, so the data is not released. Try again shortly.',
    },
    bad_filter: {
      status: 400,
      text: ({ field, kind }: { field: string; kind: 'account' | 'date' }) =>
        kind === 'account'
          ? `${field} must be the id or the email of one account.`
          : `${field} must be a date that exists, as YYYY, YYYY-MM or YYYY-MM-DD, or a date-time with a zone (a + in it sent as %2B).`,
      example: { field: 'account', kind: 'account' },
    },
    bad_month: {
      exitCode: 2,
      text: ({ field }: { field: string }) => `${field} must be a month, for example 2026-01.`,
    },
    month_too_late: {
      exitCode: 2,
      text: ({ field, month, latest }: { field: string; month: string; latest: string }) =>
        `${field} ${month} is too late: the current month and the one before it stay. The latest is ${field} ${latest}.`,
    },
    archive_busy: { text: 'Another command is archiving the access log. Wait until it ends.' },
    archive_differs: {
      text: ({ month }: { month: string }) =>
        `The entries of ${month} in the database differ from those in the file, so they stay in the database. Run: npx interchange access-log verify`,
    },
    archive_of_another_log: {
      text: ({ name, folder }: { name: string; folder: string }) =>
        `${name}.json in ${folder} has other entries than the database. Name another folder with --out.`,
    },
    archive_not_written: {
      text: ({ path, code }: { path: string; code: string }) =>
        `${path} cannot be made, read or written (${code}). Correct that, or name another folder with --out.`,
    },
    archive_broken: {
      text: ({ month, reason }: { month: string; reason: string }) =>
        `${month} is not archived, because ${reason}. Run: npx interchange access-log verify`,
    },
    access_log_in_use: {
      text: ({ month }: { month: string }) =>
        `${month} is not archived, because the access log was in use all the time. Run the command again at a quieter hour.`,
    },
  },
  french,
);
