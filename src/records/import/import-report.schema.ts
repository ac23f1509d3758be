/** How the report of an import looks over HTTP. */

import { named } from '../../platform/http/named-schema.ts';
import { Type } from '../../platform/json-schema.ts';

const Counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description });

const Elements = (description: string) =>
  Type.Array(
    named(
      'ReportedElement',
      Type.Object({
        element: Type.String({ description: 'Name of the element, such as Patient.extension.' }),
        count: Type.Integer(),
        file: Type.String({ description: 'Where it was found first.' }),
        entry: Type.Integer({ description: 'Number of the Bundle entry or NDJSON line, counted from 1.' }),
      }),
    ),
    { description },
  );

const RESOURCE = { file: Type.String(), entry: Type.Integer(), resourceType: Type.String() };

export const ImportReportSchema = named(
  'ImportReport',
  Type.Object(
    {
      dryRun: Type.Optional(
        Type.Literal(true, { description: 'Present in a dry run only: nothing was kept.' }),
      ),
      files: Type.Integer({ description: 'Always 1: the body.' }),
      bundles: Type.Integer({ description: 'Bundles taken.' }),
      resources: Counts(
        'Number of imported resources by type. It includes resources that were stored already.',
      ),
      notTaken: Counts('Number of resources by type, of types that the service does not import.'),
      rejected: Type.Array(
        named(
          'RejectedRecord',
          Type.Object({
            file: Type.String(),
            entry: Type.Union([Type.Integer(), Type.Null()], {
              description: 'Number of the Bundle entry or NDJSON line, counted from 1. null: the whole body.',
            }),
            resourceType: Type.Optional(Type.String()),
            reason: Type.String({ description: 'What is wrong, without clinical values.' }),
          }),
        ),
        { description: 'What was rejected, and why. At most the first 10,000.' },
      ),
      rejectedCount: Type.Integer({
        description:
          'Number of reasons for a rejection, unlisted ones too. A resource rejected for two reasons counts twice; a Bundle is rejected whole, and counts once for each reason that is named.',
      }),
      unchanged: Counts('Number of the `resources` that changed nothing, by type.'),
      older: Type.Array(named('OlderRecord', Type.Object(RESOURCE)), {
        description: 'Not taken, because a newer version of the same record is there; the first 10,000.',
      }),
      olderCount: Type.Integer(),
      notices: Type.Array(named('ImportNotice', Type.Object({ ...RESOURCE, reason: Type.String() })), {
        description: 'Taken, but somebody should look at it; the first 10,000.',
      }),
      noticeCount: Type.Integer(),
      notShown: Counts(
        'Number of the `resources` that no fetch shows, by reason: `survey`, `social-history`, `imaging`, `vital-sign`, `other-order`, `other-report`. Empty in a dry run.',
      ),
      notKept: Elements('Elements that the service does not keep, most frequent first.'),
      unresolved: Elements(
        'Elements with references to records that were not found, most frequent first. Only the display of such a reference is kept.',
      ),
    },
    {
      examples: [
        {
          files: 1,
          bundles: 1,
          resources: { Encounter: 7, Patient: 1 },
          notTaken: { Claim: 2 },
          rejected: [],
          rejectedCount: 0,
          unchanged: { Patient: 1 },
          older: [],
          olderCount: 0,
          notices: [],
          noticeCount: 0,
          notShown: { 'social-history': 1 },
          notKept: [{ element: 'Patient.extension', count: 1, file: 'body', entry: 1 }],
          unresolved: [],
        },
      ],
    },
  ),
);
