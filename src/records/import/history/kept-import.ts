/** An import that is kept while it runs and afterwards (docs/adr/0142, docs/adr/0151). */
import type { Static } from 'typebox';
import { named } from '../../../platform/http/named-schema.ts';
import { Choice, InstantText, Nullable, NullableText } from '../../../platform/http/schema.ts';
import { Type } from '../../../platform/json-schema.ts';

export const IMPORT_STATES = ['running', 'finished', 'rejected', 'failed'] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

/** What a list of imports is filtered by; `incomplete` is either of the two that need somebody. */
export const IMPORT_FILTERS = [...IMPORT_STATES, 'incomplete'] as const;
export type ImportFilter = (typeof IMPORT_FILTERS)[number];

/** What stands in the files: a Bundle, a single resource, or a resource or Bundle on each line (NDJSON). */
const IMPORT_CONTENTS = ['bundle', 'resource', 'lines'] as const;
export type ImportContent = (typeof IMPORT_CONTENTS)[number];

export const IMPORT_EXAMPLE = {
  id: '01a1fc08-7c3e-4b0d-a2a4-9f1d60a8e5c3',
  state: 'finished',
  startedAt: '2026-01-10T11:00:00.100Z',
  finishedAt: '2026-01-10T11:00:02.300Z',
  startedBy: {
    kind: 'account',
    id: '4303826b-527a-4add-96a0-fba711adc287',
    email: 'lab-system@hospital.example',
  },
  way: 'http',
  fileName: 'march.ndjson',
  content: 'lines',
  progress: { files: 1, totalBytes: 48_120, doneBytes: 48_120, resources: 8, rejected: 0 },
  failure: null,
};

export const ImportSchema = named(
  'Import',
  Type.Object(
    {
      id: Type.String(),
      state: Choice(
        IMPORT_STATES,
        'finished: nothing was rejected. rejected: it came to its end, and something was not taken. failed: it did not come to its end.',
      ),
      startedAt: InstantText(),
      finishedAt: Nullable(InstantText(), 'null while it runs.'),
      startedBy: named(
        'ImportStarter',
        Type.Object({
          kind: Choice(['account', 'operator'] as const, 'operator: the command interchange import.'),
          id: Type.Optional(Type.String()),
          email: Type.Optional(NullableText()),
        }),
      ),
      way: Choice(['http', 'command']),
      // It may hold a name of a patient, so it is in no log.
      fileName: NullableText(
        'The name that whoever began the import gave. null: none was given, or there were several files.',
      ),
      content: Nullable(
        Choice(IMPORT_CONTENTS),
        'lines: NDJSON. null: not known yet, none of these, or several files that differ.',
      ),
      progress: named(
        'ImportProgress',
        Type.Object(
          {
            files: Type.Integer(),
            totalBytes: Type.Integer({ description: 'Of all files. 0 while the body is on its way.' }),
            doneBytes: Type.Integer(),
            resources: Type.Integer({ description: 'Resources that were taken.' }),
            rejected: Type.Integer(),
          },
          { description: 'Written once a second while it runs.' },
        ),
      ),
      failure: NullableText('Why it failed.'),
    },
    { examples: [IMPORT_EXAMPLE] },
  ),
);

export type ListedImport = Static<typeof ImportSchema>;
export type ImportProgress = ListedImport['progress'];
