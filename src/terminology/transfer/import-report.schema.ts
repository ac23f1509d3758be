/** Shape of the report of an import of maps. */

import { named } from '../../platform/http/named-schema.ts';
import { Choice, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { MAP_EXAMPLE, MapItemSchema } from '../maps/map.schema.ts';
import { CHANGES_AT_MOST } from './preview-changes.ts';

const {
  localSystem,
  localCode,
  targetSystem,
  localDisplay,
  targetCode,
  targetDisplay,
  equivalence,
  comment,
} = MapItemSchema.properties;

const ContentSchema = named(
  'MapContent',
  Type.Object({ localDisplay, targetCode, targetDisplay, equivalence, comment }),
);

const PLACE = {
  line: Type.Optional(Type.Integer({ description: 'Line of a CSV file. The header is line 1.' })),
  path: Type.Optional(Type.String({ description: 'Path in a ConceptMap.' })),
};

const ChangeSchema = named(
  'PreviewedMapChange',
  Type.Object({
    ...PLACE,
    kind: Choice(
      ['created', 'changed'],
      'created: the map has no entry of this local code and standard system. An import deletes no entry.',
    ),
    localSystem,
    localCode,
    targetSystem,
    before: Nullable(ContentSchema, 'What the map has now. null: nothing.'),
    after: ContentSchema,
  }),
);

const CONTENT_EXAMPLE = {
  localDisplay: MAP_EXAMPLE.localDisplay,
  targetCode: MAP_EXAMPLE.targetCode,
  targetDisplay: MAP_EXAMPLE.targetDisplay,
  equivalence: MAP_EXAMPLE.equivalence,
  comment: MAP_EXAMPLE.comment,
};

export const MapImportReportSchema = named(
  'MapImportReport',
  Type.Object(
    {
      read: Type.Integer({ description: 'Entries in the file.' }),
      created: Type.Integer(),
      changed: Type.Integer(),
      unchanged: Type.Integer(),
      rejectedCount: Type.Integer({ description: 'Number of entries that were left out.' }),
      rejected: Type.Array(
        named(
          'RejectedMapEntry',
          Type.Object({ ...PLACE, localCode: NullableText(), reason: Type.String() }),
        ),
        {
          description: 'Each entry that was left out, and why. At most the first 10,000.',
        },
      ),
      changes: Type.Optional(
        Type.Array(ChangeSchema, {
          maxItems: 2 * CHANGES_AT_MOST,
          description: `Only with dryRun: each entry that would be created or changed, in the order of the file, with what the map has now. At most the first ${CHANGES_AT_MOST} that would be created and the first ${CHANGES_AT_MOST} that would be changed; \`created\` and \`changed\` count all.`,
        }),
      ),
      preview: Type.Optional(
        Type.String({
          description:
            'Only with dryRun: stands for what would be created and changed. Send it along with the import, which is then refused if it would change anything else.',
        }),
      ),
      ignored: Type.Record(Type.String(), Type.Integer(), {
        description:
          'What was ignored, and how often: elements of a ConceptMap that a terminology map does not have, or columns of a CSV file.',
      }),
    },
    {
      examples: [
        {
          read: 2,
          created: 0,
          changed: 1,
          unchanged: 0,
          rejectedCount: 1,
          rejected: [{ line: 3, localCode: 'PLT', reason: 'has no target code' }],
          changes: [
            {
              line: 2,
              kind: 'changed',
              localSystem: MAP_EXAMPLE.localSystem,
              localCode: MAP_EXAMPLE.localCode,
              targetSystem: MAP_EXAMPLE.targetSystem,
              before: {
                ...CONTENT_EXAMPLE,
                targetCode: '2339-0',
                targetDisplay: 'Glucose [Mass/volume] in Blood',
              },
              after: CONTENT_EXAMPLE,
            },
          ],
          ignored: { equivalance: 2 },
        },
      ],
    },
  ),
);
