/** GET /terminology/maps/export: one map as a file that the import takes. Contract: TERM-14. */
import { Readable } from 'node:stream';
import type { Queryable } from '../../platform/db/database.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { ConceptMapSchema, LevelParameter, mapScope, READING_MAPS } from '../maps/map.schema.ts';
import { EXPORT_FORMATS, type ExportFormat, exportMaps } from './export-maps.ts';

const CSV_EXAMPLE =
  'local_system,local_code,local_display,target_system,target_code,target_display\r\n' +
  'http://hospital.example/lab,GLU,Glucose,http://loinc.org,2345-7,Glucose [Mass/volume] in Serum or Plasma\r\n';

export function exportMapsRoute(deps: { db: Queryable }): Route<Access> {
  return facilityRoute(READING_MAPS, {
    docs: {
      operationId: 'exportTerminologyMaps',
      summary: 'Export a terminology map as CSV or a FHIR ConceptMap',
      description:
        'In CSV, a cell that a spreadsheet could run as a formula begins with an apostrophe. The import removes that apostrophe.',
      tag: 'Terminology',
    },
    query: Type.Object({
      format: Choice(Object.keys(EXPORT_FORMATS) as ExportFormat[]),
      level: LevelParameter(
        '`facility` exports the map of the facility of the call. Default: `organisation`.',
      ),
    }),
    responses: {
      200: {
        description: 'The file.',
        contents: {
          'text/csv': Type.String({ examples: [CSV_EXAMPLE] }),
          'application/fhir+json': ConceptMapSchema,
        },
        headers: ['content-disposition'],
      },
    },
    handle: async ({ query: { format, level } }, context) => {
      const { contentType, fileName } = EXPORT_FORMATS[format];
      const text = await exportMaps(deps.db, mapScope(context, level), format);
      return {
        contentType,
        headers: { 'content-disposition': `attachment; filename="${fileName}"` },
        body: Readable.from(text, { objectMode: false }),
      };
    },
  });
}
