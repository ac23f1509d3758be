/**
 * POST /imports/fhir: FHIR records in the body, plain or gzip, as the facility's own systems send them.
 * Contract: IN-1, IN-26.
 */
import type { IncomingMessage } from 'node:http';
import Type from 'typebox';
import { DEFAULT_PURPOSE_OF_USE } from '../../fhir/purpose-of-use.ts';
import type { Pool } from '../../platform/db/database.ts';
import { bodyTooLarge } from '../../platform/http/body.ts';
import { badRequest, HttpError, unavailable } from '../../platform/http/errors.ts';
import type { Route } from '../../platform/http/route.ts';
import { takeSlowBody } from '../../platform/http/slow-bodies.ts';
import type { Log } from '../../platform/log/log.ts';
import type { AccessEntry, AccessLog } from '../../privacy/access-log/access-log.ts';
import { type Access, type FacilityContext, facilityRoute } from '../../tenancy/callers/access.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { spoolSource } from './import-paths.ts';
import { importRecords } from './import-records.ts';
import type { ImportDocument } from './import-report.ts';
import type { OnPatients, OnPatientsChanged } from './run/import-run.ts';
import { bodyLimits, limitsByOrganisation, type SourceLimits } from './source/limits.ts';
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
}

const MEDIA_TYPES = [
  'application/fhir+json',
  'application/json',
  'application/fhir+ndjson',
  'application/x-ndjson',
  'application/gzip',
  'application/x-gzip',
];
/**
 * Imports that work at the same time in one process, one for each organisation: each holds a connection. A body that is
 * still on its way has no place.
 */
const CONCURRENT = 4;
/** A body that is slower than this, about 1 kB a second, is given up. */
const WINDOW_MS = 60_000;
const MIN_WINDOW_BYTES = 65_536;
const RETRY_AFTER_SECONDS = 5;
/** Access log entries that are handed over at once. */
const ENTRIES = 1_000;
/** Patients of one import that are remembered as logged already. */
const LOGGED = 100_000;
/** With it, an import also finds and links patients of the organisation's other facilities. */
const LINKS_PATIENTS: Permission = 'patients.patients.register';

const FhirBody = Type.Object({ resourceType: Type.String() }, { additionalProperties: true });
const BODY_CONTENTS = {
  'application/fhir+json': FhirBody,
  'application/json': FhirBody,
  'application/fhir+ndjson': Type.String({ description: 'One resource or Bundle on each line.' }),
  'application/x-ndjson': Type.String(),
  'application/gzip': Type.String({
    format: 'binary',
    description: 'Any of the other media types, compressed with gzip.',
  }),
  'application/x-gzip': Type.String({ format: 'binary' }),
};

const Counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description });

const Elements = (description: string) =>
  Type.Array(
    Type.Object({
      element: Type.String({ description: 'Name of the element, such as Patient.extension.' }),
      count: Type.Integer(),
      file: Type.String({ description: 'Where it was found first.' }),
      entry: Type.Integer({ description: 'Number of the Bundle entry or NDJSON line, counted from 1.' }),
    }),
    { description },
  );

const ReportSchema = Type.Object(
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
      Type.Object({
        file: Type.String(),
        entry: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Number of the Bundle entry or NDJSON line, counted from 1. null: the whole body.',
        }),
        resourceType: Type.Optional(Type.String()),
        reason: Type.String({ description: 'What is wrong, without clinical values.' }),
      }),
      { description: 'What was rejected, and why. At most the first 10,000.' },
    ),
    rejectedCount: Type.Integer(),
    unchanged: Counts('Number of the `resources` that changed nothing, by type.'),
    older: Type.Array(
      Type.Object({ file: Type.String(), entry: Type.Integer(), resourceType: Type.String() }),
      { description: 'Not taken, because a newer version of the same record is there; the first 10,000.' },
    ),
    olderCount: Type.Integer(),
    notices: Type.Array(
      Type.Object({
        file: Type.String(),
        entry: Type.Integer(),
        resourceType: Type.String(),
        reason: Type.String(),
      }),
      { description: 'Taken, but somebody should look at it; the first 10,000.' },
    ),
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
);

export function importRecordsRoute(deps: ImportRouteDependencies): Route<Access> {
  const active = new Set<string>();
  const limitsOf = limitsByOrganisation(deps.limits ?? bodyLimits(deps.config.importMaxBytes));
  return facilityRoute(
    { permissions: ['records.import'], module: 'patients', purposeOfUse: 'none' },
    {
      docs: {
        operationId: 'importRecords',
        summary: 'Import FHIR R4 records',
        description:
          'The body is a Bundle (transaction, batch, collection, searchset), a single resource, or NDJSON, plain or gzip. A Bundle is imported completely or not at all. Each NDJSON line is imported by itself. The answer is 200 also if something was rejected; it lists the entry number and the reason. Sending the same body again changes nothing.',
        tag: 'Records',
      },
      query: Type.Object({
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
        200: { description: 'What was imported and what was not.', schema: ReportSchema },
        408: { description: 'The upload stopped, or arrived too slowly. Nothing was kept.' },
      },
      handle: async ({ query: { dryRun = false }, body }, context) => {
        requireMediaType(context);
        const { organisationId } = context.scope;
        // Before a long upload that would be refused anyhow; it takes its place when there is work to do.
        requirePlace(active, organisationId);
        const limits = limitsOf(organisationId);
        const spool = await openBody(body, deps, limits);
        try {
          const leave = takePlace(active, organisationId);
          try {
            // The body may have been long on its way.
            await context.stillAllowed();
            const document = await importSpool({ ...deps, limits, dryRun }, spool, context);
            return { body: dryRun ? { dryRun, ...document } : document };
          } finally {
            leave();
          }
        } finally {
          await spool.close();
        }
      },
    },
  );
}

type BodyDependencies = ImportRouteDependencies & { limits: SourceLimits; dryRun: boolean };

/** Throws 503 while another import of this organisation works, or while `CONCURRENT` imports work. */
function requirePlace(active: ReadonlySet<string>, organisationId: string): void {
  if (active.has(organisationId))
    throw unavailable(
      'Another import is running for this organisation. Try again when it has ended.',
      RETRY_AFTER_SECONDS,
    );
  if (active.size >= CONCURRENT)
    throw unavailable(`${CONCURRENT} other imports are running. Try again in a minute.`, RETRY_AFTER_SECONDS);
}

/** Returns what gives the place back. */
function takePlace(active: Set<string>, organisationId: string): () => void {
  requirePlace(active, organisationId);
  active.add(organisationId);
  return () => void active.delete(organisationId);
}

async function importSpool(
  deps: BodyDependencies,
  spool: Spool,
  context: FacilityContext,
): Promise<ImportDocument> {
  const { document, unreadable } = await importRecords(
    { ...deps, understoodExtensions: deps.config.importUnderstoodExtensions },
    {
      scope: context.scope,
      sources: [spoolSource('body', spool)],
      reach: context.caller.permissions.has(LINKS_PATIENTS) ? 'organisation' : 'facility',
      onPatients: patientLogger(deps.accessLog, context),
      dryRun: deps.dryRun,
    },
  );
  if (unreadable > 0)
    throw badRequest(`The body ${document.rejected[0]?.reason ?? 'is not FHIR'}.`, 'not_fhir');
  return document;
}

/** One entry for each patient that the body is about, written before the change of its record commits. */
function patientLogger(accessLog: AccessLog, { caller, correlationId }: FacilityContext): OnPatients {
  /** Facility and patient. */
  const logged = new Set<string>();
  const entryOf = ({ organisationId, facilityId }: FacilityScope, patientId: string): AccessEntry => ({
    organisationId,
    facilityId,
    patientId,
    accountId: caller.accountId,
    action: 'record.import',
    resourceType: 'Patient',
    resourceId: patientId,
    purposeOfUse: DEFAULT_PURPOSE_OF_USE,
    outcome: 'allowed',
    correlationId,
  });
  return async (patientIds, scope) => {
    const nameOf = (id: string) => `${scope.facilityId} ${id}`;
    const fresh = [...patientIds].filter((id) => !logged.has(nameOf(id)));
    for (let from = 0; from < fresh.length; from += ENTRIES)
      await accessLog.record(fresh.slice(from, from + ENTRIES).map((id) => entryOf(scope, id)));
    if (logged.size > LOGGED) logged.clear();
    for (const id of fresh) logged.add(nameOf(id));
  };
}

/** Reads the whole body, however long it takes, as long as data keeps arriving. */
async function openBody(
  body: IncomingMessage,
  { config }: ImportRouteDependencies,
  limits: SourceLimits,
): Promise<Spool> {
  const done = takeSlowBody(body.socket);
  // `paced` watches the upload. After it, the connection is quiet while a large body is imported.
  body.socket.setTimeout(0);
  try {
    return await spoolBody(body, config, limits);
  } finally {
    done();
  }
}

async function spoolBody(
  body: IncomingMessage,
  { importMaxBytes: maxBytes, importIdleSeconds }: ImportRouteDependencies['config'],
  limits: SourceLimits,
): Promise<Spool> {
  if (Number(body.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  const pace = {
    idleMs: importIdleSeconds * 1_000,
    windowMs: WINDOW_MS,
    minWindowBytes: MIN_WINDOW_BYTES,
  };
  let overflowed = false;
  const chunks = limited(paced(body, pace), maxBytes, () => {
    overflowed = true;
  });
  try {
    return await openStream(chunks, limits);
  } catch (error) {
    if (overflowed) throw bodyTooLarge(maxBytes);
    if (error instanceof NoSpaceError)
      throw unavailable(
        'The service has no disk space for this body at the moment. Send it again later.',
        RETRY_AFTER_SECONDS,
      );
    if (error instanceof SourceError) throw badRequest(`The body ${error.message}.`, 'not_fhir');
    throw error;
  }
}

async function* limited(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  overflow: () => void,
): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) {
      overflow();
      throw new SourceError('is too large');
    }
    yield chunk;
  }
}

function requireMediaType({ headers }: FacilityContext): void {
  const given = mediaType(headers['content-type']);
  if (!MEDIA_TYPES.includes(given))
    throw new HttpError(
      415,
      'media_type',
      `This call does not accept that content type. Send ${MEDIA_TYPES.slice(0, 5).join(', ')}.`,
    );
  const encoding = mediaType(headers['content-encoding']);
  if (!['', 'identity', 'gzip', 'x-gzip'].includes(encoding))
    throw new HttpError(
      415,
      'content_encoding',
      'This call does not accept that content encoding. Send gzip or none.',
    );
}

function mediaType(value: string | string[] | undefined): string {
  return (
    String(value ?? '')
      .split(';')[0]
      ?.trim()
      .toLowerCase() ?? ''
  );
}
