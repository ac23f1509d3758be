/** A laboratory order with results at a facility of its own, and a publisher as the service builds it; for tests. */
import { randomBytes, randomUUID } from 'node:crypto';
import { after, beforeEach } from 'node:test';
import { Registry } from 'prom-client';
import { createLoadReferenced } from '../../src/app/load-referenced.ts';
import { vitalSetSource as sourceOfVitalSets } from '../../src/encounters/vitals/fetch-vital-set.ts';
import { orderSource } from '../../src/investigations/emit-investigation.ts';
import { createKeyRing, type KeyRing } from '../../src/platform/crypto/key-ring.ts';
import type { Pool } from '../../src/platform/db/database.ts';
import { createLog, type Log } from '../../src/platform/log/log.ts';
import type { AccessEntry, AccessLog } from '../../src/privacy/access-log/access-log.ts';
import type { PublishSource } from '../../src/publish/plan/prepare-publish.ts';
import type { PublishedResource } from '../../src/publish/publish.schema.ts';
import { createPublisher, type Publisher } from '../../src/publish/runs/publish.ts';
import type { FhirServer } from '../../src/publish/servers/fhir-server.ts';
import { createFhirServer, type NewFhirServer } from '../../src/publish/servers/manage-fhir-servers.ts';
import { PUBLISH, type PublishSettings } from '../../src/publish/servers/publish-settings.ts';
import type { FacilityContext } from '../../src/tenancy/callers/access.ts';
import type { FacilityScope } from '../../src/tenancy/scope.ts';
import { createTranslator } from '../../src/terminology/lookup/translate.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { serveFhir, type TestFhirServer } from '../fhir-server/start.ts';
import { bundle, encounter, organization, patient, practitioner, type Resource } from '../records/clinic.ts';
import { importJson } from '../records/import-files.ts';
import { createPlace } from '../records/place.ts';
import { answered } from '../service/worded-errors.ts';

/** A database and a FHIR server for the tests of a file. They end with the file; each test finds the server empty. */
export async function startPublishing(
  ...options: string[]
): Promise<{ database: TestDatabase; server: TestFhirServer }> {
  const database = await createTestDatabase();
  const server = await serveFhir(...options);
  after(async () => {
    await server.stop();
    await database.drop();
  });
  beforeEach(() => server.reset());
  return { database, server };
}

export interface PublishClinic {
  scope: FacilityScope;
  patientId: string;
  practitionerId: string;
  /** As they were imported: for another clinic that shares them. */
  practitioner: Resource;
  hospital: Resource;
  encounterId: string;
  orderId: string;
  reportId: string;
  observationIds: string[];
  /** Import the order again with these changes. */
  change(changes: Partial<ClinicChanges>): Promise<void>;
}

export interface ClinicChanges {
  /** Of the first result. */
  observation: Partial<Resource>;
  report: Partial<Resource>;
  patient: Partial<Resource>;
  /** Whose encounter and order they are; by default the patient of the clinic. */
  patientId: string;
}

/** What no answer about a failure may repeat. */
export const CLINICAL_MARKS = ['Zyxwvutsrq', 'Quokkaitis', '123456.789', 'Rivers', 'Noor'];

export async function createClinic(
  db: Pool,
  options: {
    results?: number;
    scope?: FacilityScope;
    practitioner?: Resource;
    hospital?: Resource;
    /** What differs from the start. */
    changes?: Partial<ClinicChanges>;
  } = {},
): Promise<PublishClinic> {
  const scope = options.scope ?? (await createPlace(db));
  const ids = {
    patient: randomUUID(),
    encounter: randomUUID(),
    order: randomUUID(),
    report: randomUUID(),
    observations: Array.from({ length: options.results ?? 20 }, () => randomUUID()),
  };
  const hospital = options.hospital ?? organization();
  const doctor = options.practitioner ?? practitioner();
  const records = ({ patientId = ids.patient, ...changes }: Partial<ClinicChanges>) => {
    const now = { ...ids, patient: patientId };
    return bundle(
      [
        hospital,
        doctor,
        patient({ ...changes.patient, id: patientId }),
        encounter(`Patient/${patientId}`, {
          id: ids.encounter,
          serviceProvider: { reference: `Organization/${hospital.id}` },
          participant: [{ individual: { reference: `Practitioner/${doctor.id}` } }],
        }),
        order(now, String(doctor.id)),
        ...ids.observations.map((id, index) => ({
          ...observation(now, id, index),
          ...(index === 0 ? changes.observation : {}),
        })),
        { ...report(now), ...changes.report },
      ].map((resource) => ({ ...resource, id: resource.id })),
      'collection',
    );
  };
  const load = async (changes: Partial<ClinicChanges>) => {
    const { rejected } = await importJson(
      db,
      scope,
      JSON.stringify(records(changes)).replace('"@"', '123456.7890'),
    );
    if (rejected.length > 0) throw new Error(`the records do not import: ${JSON.stringify(rejected)}`);
  };
  await load(options.changes ?? {});
  return {
    scope,
    patientId: ids.patient,
    practitionerId: String(doctor.id),
    practitioner: doctor,
    hospital,
    encounterId: ids.encounter,
    orderId: ids.order,
    reportId: ids.report,
    observationIds: ids.observations,
    change: load,
  };
}

interface ClinicIds {
  patient: string;
  encounter: string;
  order: string;
  report: string;
  observations: string[];
}

function order(ids: ClinicIds, practitionerId: string): Resource {
  return {
    resourceType: 'ServiceRequest',
    id: ids.order,
    status: 'completed',
    intent: 'order',
    code: { coding: [{ system: 'http://loinc.org', code: '24323-8' }], text: 'Panel' },
    subject: { reference: `Patient/${ids.patient}` },
    encounter: { reference: `Encounter/${ids.encounter}` },
    requester: { reference: `Practitioner/${practitionerId}`, display: 'Dr. Ada Brook' },
    authoredOn: '2024-02-03T10:05:00+01:00',
  };
}

function observation(ids: ClinicIds, id: string, index: number): Resource {
  return {
    resourceType: 'Observation',
    id,
    status: 'final',
    category: [
      {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' },
        ],
      },
    ],
    code: { coding: [{ system: 'http://loinc.org', code: '2345-7' }], text: `Glucose ${index}` },
    subject: { reference: `Patient/${ids.patient}` },
    encounter: { reference: `Encounter/${ids.encounter}` },
    basedOn: [{ reference: `ServiceRequest/${ids.order}` }],
    effectiveDateTime: '2024-02-03T10:10:00+01:00',
    // The first is a decimal whose digits matter; `@` stands for it until the text is written.
    valueQuantity: {
      value: index === 0 ? '@' : index + 0.5,
      unit: 'mg/dL',
      system: 'http://unitsofmeasure.org',
      code: 'mg/dL',
    },
    ...(index === 1 ? { note: [{ text: 'Seen by Zyxwvutsrq' }] } : {}),
    // A panel names its members: they must be there first.
    ...(index === 2 ? { hasMember: [{ reference: `Observation/${ids.observations[3]}` }] } : {}),
  };
}

function report(ids: ClinicIds): Resource {
  return {
    resourceType: 'DiagnosticReport',
    id: ids.report,
    status: 'final',
    category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB' }] }],
    code: { coding: [{ system: 'http://loinc.org', code: '24323-8' }] },
    subject: { reference: `Patient/${ids.patient}` },
    encounter: { reference: `Encounter/${ids.encounter}` },
    basedOn: [{ reference: `ServiceRequest/${ids.order}` }],
    effectiveDateTime: '2024-02-03T10:10:00+01:00',
    issued: '2024-02-03T11:00:00+01:00',
    result: ids.observations.map((id) => ({ reference: `Observation/${id}` })),
    conclusion: 'Quokkaitis confirmed',
  };
}

export interface TestPublisher {
  publisher: Publisher;
  /** What the access log was given. */
  entries: AccessEntry[];
  /** Adds a target to the clinic's organisation, and makes it the default one. */
  addTarget(clinic: PublishClinic, settings: Partial<NewFhirServer>): Promise<FhirServer>;
  publish(
    clinic: PublishClinic,
    options?: { target?: string; purposeOfUse?: FacilityContext['purposeOfUse']; correlationId?: string },
  ): Promise<PublishedResource[]>;
}

/** Time that passes only when someone sleeps: waits cost nothing, and add up. */
export function createTestClock() {
  let nowMs = 0;
  return {
    sleptMs: [] as number[],
    nowMs: () => nowMs,
    async sleep(ms: number) {
      nowMs += ms;
      this.sleptMs.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

export function createTestPublisher(
  db: Pool,
  settings: Partial<PublishSettings> = {},
  deps: { keys?: KeyRing; accessLog?: AccessLog; metrics?: { registry: Registry }; log?: Log } = {},
): TestPublisher {
  const entries: AccessEntry[] = [];
  const keys = deps.keys ?? createKeyRing(randomBytes(32));
  const unmapped = { met: () => undefined };
  const publisher = createPublisher({
    db,
    keys,
    log: deps.log ?? createLog('silent'),
    accessLog: deps.accessLog ?? { record: async (added) => void entries.push(...added) },
    unmapped,
    now: () => new Date(),
    loadReferenced: createLoadReferenced(db, unmapped),
    metrics: deps.metrics ?? { registry: new Registry() },
    settings: { retry: { ...PUBLISH.retry, random: () => 0.5 }, clock: createTestClock(), ...settings },
  });
  return {
    publisher,
    entries,
    addTarget: (clinic, given) =>
      createFhirServer(
        { db, keys },
        {
          organisationId: clinic.scope.organisationId,
          settings: { name: `t-${randomUUID()}`, base: '', auth: 'none', ...given },
          secret: undefined,
          makeDefault: true,
        },
      ),
    async publish(clinic, { target, purposeOfUse = 'OPS', correlationId = randomUUID() } = {}) {
      const context = contextOf(clinic.scope, { purposeOfUse, correlationId });
      const source = labOrderSource(db);
      const answer = answered(() => publisher.publish(source, { id: clinic.orderId, target }, context));
      return (await answer).published;
    },
  };
}

export function labOrderSource(db: Pool): PublishSource {
  const deps = { db, translator: createTranslator({ db }) };
  return {
    ...orderSource(deps, 'laboratory'),
    placeOf: () => 'lab.result',
  };
}

export function vitalSetSource(db: Pool): PublishSource {
  return sourceOfVitalSets({ db, translator: createTranslator({ db }) });
}

/** The parts of a context that publishing reads. */
export function contextOf(
  scope: FacilityScope,
  { purposeOfUse, correlationId }: Pick<FacilityContext, 'purposeOfUse' | 'correlationId'>,
): FacilityContext {
  const caller = {
    accountId: '00000000-0000-4000-8000-00000000acc0',
    permissions: new Set(['investigations.lab.list']),
    facilities: new Map([[scope.facilityId, { modules: new Set(['lab']) }]]),
  };
  const stillAllowed = async () => undefined;
  const context = { scope, purposeOfUse, correlationId, caller, now: new Date(), stillAllowed };
  return context as unknown as FacilityContext;
}
