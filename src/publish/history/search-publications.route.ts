/** GET /publish/publications. Contract: ADM-43. */

import { parseInstant } from '../../exchange/review/list-deliveries.route.ts';
import { named } from '../../platform/http/named-schema.ts';
import { mapPage, onePage, PAGE_PARAMETERS } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, InstantText, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import type { TracedListDependencies } from '../../privacy/authorise-access.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import type { SubjectKind } from '../runs/run.store.ts';
import { searchPublications } from './search-publications.ts';

/** As callers name the kinds of records. */
const KINDS = { lab: 'lab-order', imaging: 'imaging-order', vitals: 'vital-set' } as const;
const KIND_NAMES = ['lab', 'imaging', 'vitals'] as const;
const STATES = ['running', 'done', 'failed', 'interrupted'] as const;
const WHEN = 'A FHIR date, in the time zone of the facility, or a date-time.';

const PublicationSchema = named(
  'Publication',
  Type.Object(
    {
      id: Type.String(),
      kind: Choice(KIND_NAMES),
      recordId: Type.String({ description: 'Id of the order, or of the vital set.' }),
      target: Type.String(),
      state: Choice(STATES, 'interrupted: the process ended before the publish did.'),
      startedAt: InstantText(),
      finishedAt: Nullable(
        InstantText(),
        'null while it runs. Also null once it is interrupted, until the record is published to the target again.',
      ),
      stored: Type.Integer({ description: 'Number of resources that the target stored.' }),
      failure: NullableText(
        'The error message, if the publish failed. Without patient it does not list local codes.',
      ),
      correlationId: Type.String(),
    },
    {
      examples: [
        {
          id: '01a1fc08-7c3e-7b0d-a2a4-9f1d60a8e5c3',
          kind: 'lab',
          recordId: '7600924d-2ca4-4cd0-9251-2306b698ef8b',
          target: 'national',
          state: 'done',
          startedAt: '2026-01-10T11:00:00.100Z',
          finishedAt: '2026-01-10T11:00:00.300Z',
          stored: 5,
          failure: null,
          correlationId: '68203135-2e36-4fe2-9f7b-a8708c7c5b44',
        },
      ],
    },
  ),
);

export function searchPublicationsRoute(deps: TracedListDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['publish.publications.read'], module: 'publish', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'searchPublications',
        summary: 'List the publishes of the facility',
        description:
          "Newest first, across orders and vital sets. With patient, the service writes the call to that patient's access log. Without it, the list names no patient.",
        tag: 'Publishing',
      },
      query: Type.Object({
        kind: Type.Optional(Choice(KIND_NAMES)),
        state: Type.Optional(Choice(STATES)),
        target: Type.Optional(Type.String({ maxLength: 63, description: 'Name of a target.' })),
        patient: Type.Optional(
          Type.String({ maxLength: 100, description: 'Id of a patient, bare or as Patient/<id>.' }),
        ),
        since: Type.Optional(Type.String({ maxLength: 100, description: `Begun then or later. ${WHEN}` })),
        until: Type.Optional(Type.String({ maxLength: 100, description: `Begun before that. ${WHEN}` })),
        ...PAGE_PARAMETERS,
      }),
      responses: onePage(PublicationSchema),
      async handle({ query: { kind, state, target, since, until, ...request } }, context) {
        const { timeZone } = context.scope;
        const filter = {
          kind: kind === undefined ? undefined : KINDS[kind],
          state,
          target,
          since: parseInstant('since', since, timeZone),
          until: parseInstant('until', until, timeZone),
        };
        const page = await searchPublications(deps, { filter, ...request }, context);
        return { body: mapPage(page, (one) => ({ ...one, kind: NAME_OF[one.kind] })) };
      },
    },
  );
}

const NAME_OF = Object.fromEntries(Object.entries(KINDS).map(([name, kind]) => [kind, name])) as Record<
  SubjectKind,
  (typeof KIND_NAMES)[number]
>;
