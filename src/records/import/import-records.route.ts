/**
 * POST /imports/fhir: FHIR records in the body, plain or gzip, as the facility's own systems send them.
 * Contract: IN-1, IN-26, IN-56, ADM-46, ADM-47, ADM-73.
 */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { requireRelease } from '../../fhir/media-type.ts';
import { DEFAULT_PURPOSE_OF_USE } from '../../fhir/purpose-of-use.ts';
import type { Pool } from '../../platform/db/database.ts';
import { bodyTooLarge } from '../../platform/http/body.ts';
import { addErrorHeaders, hungUp, toHttpError } from '../../platform/http/caught-errors.ts';
import { firstWord, mediaTypeOf } from '../../platform/http/content-type.ts';
import { badRequest, HttpError, unavailable } from '../../platform/http/errors.ts';
import { requireUuid } from '../../platform/http/input.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { takeSlowBody } from '../../platform/http/slow-bodies.ts';
import { Type } from '../../platform/json-schema.ts';
import { errorFields, type Log } from '../../platform/log/log.ts';
import type { Words } from '../../platform/words/words.ts';
import type { AccessAction, AccessLog } from '../../privacy/access-log/access-log.ts';
import { accessEntry } from '../../privacy/authorise-access.ts';
import { type Access, type FacilityContext, facilityRoute } from '../../tenancy/callers/access.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import { batchesOf } from './group/batches.ts';
import { type RecordImportOptions, recordImport } from './history/record-import.ts';
import { isSourceName, NAME_CHARACTERS } from './history/source-name.ts';
import { spoolSource } from './import-paths.ts';
import { type ImportRequest, type ImportResult, importRecords } from './import-records.ts';
import { ImportReportSchema } from './import-report.schema.ts';
import type { ImportDocument } from './import-report.ts';
import { createImportPlaces } from './run/import-places.ts';
import type { OnPatients, OnPatientsChanged } from './run/import-run.ts';
import { bodyLimits, CONCURRENT_BODIES, limitsByOrganisation, type SourceLimits } from './source/limits.ts';
import { openStream } from './source/open-source.ts';
import { paced } from './source/paced-body.ts';
import { NoSpaceError, SourceError } from './source/source-error.ts';
import type { Spool } from './source/spool.ts';

export interface ImportRouteDependencies {
  db: Pool;
  log: Log;
  accessLog: AccessLog;
  config: {
    importMaxBytes: number;
    importIdleSeconds: number;
    importUnderstoodExtensions: readonly string[];
  };
  onPatientsChanged?: OnPatientsChanged;
  limits?: SourceLimits;
  waitMs?: number;
}

/** A body that is slower than this, about 1 kB a second, is given up. */
const WINDOW_MS = 60_000;
const MIN_WINDOW_BYTES = 65_536;
/** How long an import waits for others to end. */
const WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;
/** Patients of one import that are remembered as logged already. */
const LOGGED = 100_000;
/** With it, an import also finds and links patients of the organisation's other facilities. */
const LINKS_PATIENTS: Permission = 'patients.patients.register';

const FhirBody = named(
  'FhirResource',
  Type.Object({ resourceType: Type.String() }, { additionalProperties: true }),
);
const BODY_CONTENTS = {
  'application/fhir+json': FhirBody,
  'application/json': FhirBody,
  'application/fhir+ndjson': Type.String({ description: 'One resource or Bundle on each line.' }),
  'application/ndjson': Type.String(),
  'application/x-ndjson': Type.String(),
  'application/gzip': Type.String({
    format: 'binary',
    description: 'Any of the other media types, compressed with gzip.',
  }),
  'application/x-gzip': Type.String({ format: 'binary' }),
};
const MEDIA_TYPES = Object.keys(BODY_CONTENTS);

export function importRecordsRoute(deps: ImportRouteDependencies): Route<Access> {
  const places = createImportPlaces({ waitMs: deps.waitMs ?? WAIT_MS, busy });
  const limitsOf = limitsByOrganisation(deps.limits ?? bodyLimits(deps.config.importMaxBytes));
  return facilityRoute(
    { permissions: ['records.import'], module: 'patients', purposeOfUse: 'none' },
    {
      docs: {
        operationId: 'importRecords',
        summary: 'Import FHIR R4 records',
        description:
          'The body is a Bundle (transaction, batch, collection, searchset), a single resource, or NDJSON, plain or gzip. A Bundle is imported completely or not at all. Each NDJSON line is imported by itself. The answer is 200 also if something was rejected; it lists the entry number and the reason. A Bundle or resource that breaks off is 400. Of NDJSON that breaks off, the complete lines are taken, unless it is compressed. Sending the same body again changes nothing. Every answer about an import that is kept has its id in `x-import-id`, errors too.',
        tag: 'Records',
      },
      query: Type.Object({
        importId: Type.Optional(
          Type.String({
            maxLength: 64,
            description:
              'UUID that you choose for this import, to watch it with GET /imports/<importId>. Default: the service chooses one. A dry run is not kept.',
          }),
        ),
        fileName: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: NAME_CHARACTERS,
            description:
              'Name of the file, for the list of imports. It is kept with the import, and is in no log of the service. One line that can be seen, without control characters.',
          }),
        ),
        dryRun: Type.Optional(
          Type.Boolean({
            description: 'If true, the service checks and counts everything, and keeps nothing.',
          }),
        ),
      }),
      body: Type.Unsafe<IncomingMessage>({}),
      bodyMode: 'stream',
      bodyContents: BODY_CONTENTS,
      bodyExample: {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          {
            resource: { resourceType: 'Patient', id: 'p1', name: [{ family: 'Okafor', given: ['Ada'] }] },
            request: { method: 'PUT', url: 'Patient/p1' },
          },
        ],
      },
      responses: {
        200: {
          description: 'What was imported and what was not.',
          schema: ImportReportSchema,
          headers: ['x-import-id'],
        },
        409: {
          description: 'The organisation has an import with that importId already, and it did not fail.',
        },
        408: { description: 'The upload stopped, or arrived too slowly. Nothing was kept.' },
      },
      handle: async ({ query: { dryRun = false, importId, fileName }, body }, context) => {
        requireMediaType(context);
        requireRelease(context.headers);
        requireUuid('importId', importId);
        const id = importId?.toLowerCase() ?? randomUUID();
        requireFileName(fileName);
        const { organisationId } = context.scope;
        // Before a long upload that would be refused anyhow; it takes its place when there is work to do.
        await places.free(organisationId);
        const limits = limitsOf(organisationId);
        const work = async (onBegin?: ImportRequest['onBegin']): Promise<ImportResult> => {
          const spool = await openBody(body, deps.config, limits);
          try {
            const leave = await places.take(organisationId);
            try {
              // The body may have been long on its way, and may have waited.
              await context.stillAllowed();
              return await importRecords(
                { ...deps, limits, understoodExtensions: deps.config.importUnderstoodExtensions },
                {
                  scope: context.scope,
                  sources: [spoolSource('body', spool)],
                  reach: context.caller.permissions.has(LINKS_PATIENTS) ? 'organisation' : 'facility',
                  onPatients: patientLogger(
                    deps.accessLog,
                    context,
                    dryRun ? 'record.import-dry-run' : 'record.import',
                  ),
                  dryRun,
                  onBegin,
                },
              );
            } finally {
              leave();
            }
          } finally {
            await spool.close();
          }
        };
        if (dryRun) return { body: { dryRun, ...documentOf(await work()) } };
        const run = {
          id,
          scope: context.scope,
          way: 'http',
          accountId: context.caller.accountId,
          fileName: fileName ?? null,
        } as const;
        const headers = { 'x-import-id': id };
        const result = await recordImport({ db: deps.db, ...recording(deps.log, body) }, run, (onBegin) => {
          addErrorHeaders(body, headers);
          return work(onBegin);
        });
        return { headers, body: documentOf(result) };
      },
    },
  );
}

function requireFileName(given: string | undefined): void {
  if (given !== undefined && !isSourceName(given))
    throw badRequest({
      en: 'fileName must be one line of text that can be seen, without control characters.',
      fr: 'fileName doit être une seule ligne de texte visible, sans caractère de contrôle.',
    });
}

/** How a failure is told, and where it is noted that an import could not be kept. */
function recording(log: Log, body: IncomingMessage): Pick<RecordImportOptions, 'describe' | 'onError'> {
  return {
    describe: (error) => (toHttpError(error) ?? hungUp(error, body))?.message,
    onError: (error) => log.warn(errorFields(error), 'the state of an import could not be written'),
  };
}

function documentOf({ document, unreadable }: ImportResult): ImportDocument {
  const [fault] = document.rejected;
  if (unreadable === 0 || fault === undefined) return document;
  throw badRequest(notFhir(fault.reason, fault.entry), 'not_fhir');
}

/** Reasons are kept with imports, in English. */
function notFhir(reason: string, entry: number | null = null): Words {
  const [enAt, frAt] = entry === null ? ['', ''] : [` (at entry ${entry})`, ` (à l’entrée ${entry})`];
  return {
    en: withoutStop(`The content${enAt} ${reason}.`),
    fr: withoutStop(
      `Le contenu n’est pas du FHIR R4 que le service sait lire${frAt}. Le motif, en anglais : ${reason}.`,
    ),
  };
}

/** A reason may end with a question. */
function withoutStop(text: string): string {
  return text.replace(/\?\.$/, '?');
}

function busy(isOfOrganisation: boolean): HttpError {
  const words = isOfOrganisation
    ? {
        en: 'Another import is running for this organisation. Try again when it has ended.',
        fr: 'Une autre importation est en cours pour cette organisation. Réessayez quand elle sera terminée.',
      }
    : {
        en: `${CONCURRENT_BODIES} other imports are running. Try again in a minute.`,
        fr: `${CONCURRENT_BODIES} autres importations sont en cours. Réessayez dans une minute.`,
      };
  return unavailable(words, RETRY_AFTER_SECONDS);
}

/** One entry for each patient that the body is about, written before the change of its record commits, and before the answer. */
function patientLogger(
  accessLog: AccessLog,
  { caller, correlationId, scope }: FacilityContext,
  action: AccessAction,
): OnPatients {
  const reader = { caller, correlationId, scope, purposeOfUse: DEFAULT_PURPOSE_OF_USE };
  const logged = new Set<string>();
  return async (patientIds) => {
    const entryOf = (patientId: string) =>
      accessEntry(reader, { patientId, action, resourceType: 'Patient', resourceId: patientId }, 'allowed');
    const fresh = [...patientIds].filter((id) => !logged.has(id));
    for (const some of batchesOf(fresh)) await accessLog.record(some.map(entryOf));
    if (logged.size > LOGGED) logged.clear();
    for (const id of fresh) logged.add(id);
  };
}

/** Reads the whole body, however long it takes, as long as data keeps arriving. */
async function openBody(
  body: IncomingMessage,
  { importMaxBytes: maxBytes, importIdleSeconds }: ImportRouteDependencies['config'],
  limits: SourceLimits,
): Promise<Spool> {
  const done = takeSlowBody(body.socket);
  // `paced` watches the upload. After it, the connection is quiet while a large body is imported.
  body.socket.setTimeout(0);
  const pace = {
    idleMs: importIdleSeconds * 1_000,
    windowMs: WINDOW_MS,
    minWindowBytes: MIN_WINDOW_BYTES,
  };
  try {
    if (Number(body.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
    return await openStream(limited(paced(body, pace), maxBytes), limits);
  } catch (error) {
    // The rest is not read, so that no other request can follow on the connection.
    const connection = 'close';
    if (error instanceof NoSpaceError)
      throw new HttpError(
        503,
        'unavailable',
        {
          en: 'The service has no disk space for this body at the moment. Send it again later.',
          fr: 'Le service n’a pas assez d’espace disque pour ce corps en ce moment. Envoyez-le à nouveau plus tard.',
        },
        { headers: { 'retry-after': String(RETRY_AFTER_SECONDS), connection } },
      );
    if (error instanceof SourceError)
      throw new HttpError(400, 'not_fhir', notFhir(error.message), { headers: { connection } });
    throw error;
  } finally {
    done();
  }
}

async function* limited(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw bodyTooLarge(maxBytes);
    yield chunk;
  }
}

function requireMediaType({ headers }: FacilityContext): void {
  if (!MEDIA_TYPES.includes(mediaTypeOf(headers)))
    throw new HttpError(415, 'media_type', {
      en: `This call does not accept that content type. Send ${MEDIA_TYPES.join(', ')}.`,
      fr: `Cet appel n’accepte pas ce type de contenu. Envoyez ${MEDIA_TYPES.join(', ')}.`,
    });
  const encoding = firstWord(headers['content-encoding']);
  if (!['', 'identity', 'gzip', 'x-gzip'].includes(encoding))
    throw new HttpError(
      415,
      'content_encoding',
      {
        en: 'This call does not accept that content encoding. Send gzip or none.',
        fr: 'Cet appel n’accepte pas ce codage de contenu. Envoyez gzip, ou aucun.',
      },
      { headers: { 'accept-encoding': 'gzip, identity' } },
    );
}
