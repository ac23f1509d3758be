/** POST /terminology/maps/import: a CSV file or a FHIR ConceptMap. Contract: TERM-10, TERM-23, TERM-24, TERM-25. */
import { Readable } from 'node:stream';
import { requireRelease } from '../../fhir/media-type.ts';
import type { Pool } from '../../platform/db/database.ts';
import { mediaTypeOf, requireContentType } from '../../platform/http/content-type.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { contentLanguage, languageOf } from '../../platform/words/accept-language.ts';
import { authorOf } from '../../tenancy/administration/author.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { badFile } from '../errors.ts';
import { CHANGING_MAPS, ConceptMapSchema, LevelParameter, mapScope } from '../maps/map.schema.ts';
import { parseColumns } from './csv-header.ts';
import { importMaps } from './import-maps.ts';
import { MapImportReportSchema } from './import-report.schema.ts';
import { readMapFile } from './read-map-file.ts';

const MAX_FILE_BYTES = 8 * 1_048_576;
const MEDIA_TYPES = ['text/csv', 'application/fhir+json', 'application/json'];

const ImportQuery = Type.Object({
  level: LevelParameter(
    '`facility` imports into the map of the facility of the call. Default: `organisation`.',
  ),
  dryRun: Type.Optional(
    Type.Boolean({
      description: 'If true, the answer says what would be imported, entry by entry, and nothing is kept.',
    }),
  ),
  preview: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        '`preview` of the dry run that somebody looked at. If the import would change anything else, because the maps were changed since, or because it is another file or for another map, the answer is 409 and nothing is kept.',
    }),
  ),
  columns: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description:
        'Names of the columns of a CSV file with another header, such as `local_code=itemid,target_code=loinc`.',
    }),
  ),
  localSystem: Type.Optional(
    Type.String({ description: 'Local system of every entry, if the file has none.' }),
  ),
  targetSystem: Type.Optional(
    Type.String({ description: 'Standard system of every entry, if the file has none.' }),
  ),
});

export function importMapsRoute(deps: { db: Pool }): Route<Access> {
  return facilityRoute(CHANGING_MAPS, {
    docs: {
      operationId: 'importTerminologyMaps',
      summary: 'Import a terminology map from CSV or a FHIR ConceptMap',
      description:
        'CSV (`text/csv`, UTF-8) has the header local_system,local_code,local_display,target_system,target_code,target_display and may also have equivalence,comment. The service keeps valid entries and reports each entry that it leaves out. A file may have up to 8 MiB; import larger files at the command line. Only an account that may use every facility, or whose role has terminology.maps.organisation, may import into the map of the organisation (without level=facility).',
      tag: 'Terminology',
    },
    query: ImportQuery,
    body: Type.Unsafe<Uint8Array>({}),
    bodyMode: 'raw',
    bodyContents: {
      'text/csv': Type.String(),
      'application/fhir+json': ConceptMapSchema,
      'application/json': ConceptMapSchema,
    },
    bodyExample:
      'local_system,local_code,local_display,target_system,target_code,target_display\nurn:lab,HB,Haemoglobin,http://loinc.org,718-7,Hemoglobin [Mass/volume] in Blood\n',
    bodyLimitBytes: MAX_FILE_BYTES,
    responses: {
      200: { description: 'What was done.', schema: MapImportReportSchema, headers: ['content-language'] },
      409: { description: 'The maps were changed after the preview, or it is of another import.' },
    },
    handle: async ({ query, body }, context) => {
      requireContentType(context.headers, MEDIA_TYPES);
      requireRelease(context.headers);
      const format = mediaTypeOf(context.headers) === 'text/csv' ? 'csv' : 'conceptmap';
      const beginning = Buffer.from(body.subarray(0, 100)).toString().trimStart();
      if (format === 'csv' && beginning.startsWith('{'))
        throw badFile({
          en: 'The file is JSON, but was sent as CSV. Send a ConceptMap as application/fhir+json.',
          fr: 'Le fichier est en JSON, mais a été envoyé en CSV. Envoyez un ConceptMap en application/fhir+json.',
        });
      const columns = query.columns === undefined ? new Map() : parseColumns(query.columns);
      const { localSystem, targetSystem, level, dryRun = false, preview } = query;
      const ignored = new Map<string, number>();
      const options = { columns, localSystem, targetSystem, ignored };
      const rows = readMapFile(Readable.from([body]), format, options);
      const language = languageOf(context.headers['accept-language']);
      const change = { now: context.now, author: authorOf(context) };
      const request = { rows, change, dryRun, language, preview };
      const report = await importMaps(deps.db, mapScope(context, level), request);
      return {
        headers: contentLanguage(language),
        body: { ...report, ignored: Object.fromEntries(ignored) },
      };
    },
  });
}
