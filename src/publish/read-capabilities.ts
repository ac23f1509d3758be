/** Reads what a target says of itself and what that means for its policies (FHIR R4, "CapabilityStatement"). */
import type { FhirAnswer } from './fhir-server.ts';
import { parseObject } from './read-answer.ts';
import { SENT_AHEAD } from './resource-types.ts';
import type { TargetSettings } from './target.ts';

export interface TypeCapabilities {
  type: string;
  create: boolean;
  update: boolean;
  search: boolean;
  /** PUT to an id that is not there yet makes it. */
  updateCreate: boolean;
  /** `If-None-Exist` is honoured. */
  conditionalCreate: boolean;
  /** References must lead to something. */
  enforcesReferences: boolean;
  searchByIdentifier: boolean;
}

export interface TargetCheck {
  /** Whether publishing can work with the settings as they are. */
  ok: boolean;
  fhirVersion: string | null;
  software: string | null;
  types: TypeCapabilities[];
  /** What stands in the way. */
  faults: string[];
  /** What to know or to change. */
  advice: string[];
}

const SENT = ['ServiceRequest', 'Observation', 'ImagingStudy', 'DiagnosticReport'];

/** Types that a target may do without, and who needs them. */
const SOMETIMES: Readonly<Record<string, string>> = {
  ImagingStudy: 'imaging orders with studies',
  Location: 'encounters with a location',
};

type Json = Record<string, unknown>;

/** What an answer to GET /metadata says about a target with these settings. */
export function checkCapabilities(answer: FhirAnswer, settings: TargetSettings): TargetCheck {
  const nothing = { fhirVersion: null, software: null, types: [], advice: [] };
  const failed = (fault: string): TargetCheck => ({ ok: false, ...nothing, faults: [fault] });
  if (answer.kind === 'unanswered') return failed(`It does not answer (${answer.code}).`);
  if (answer.status === 401 || answer.status === 403)
    return failed(`It refuses our credentials (${answer.status}). See interchange target rotate-secret.`);
  const statement = answer.body === undefined ? undefined : parseObject(answer.body);
  if (answer.status !== 200 || statement?.resourceType !== 'CapabilityStatement')
    return failed(
      `Its /metadata answers ${answer.status} and no CapabilityStatement. Is the base address right?`,
    );
  const version = text(statement.fhirVersion);
  const wanted = settings.referencePolicy === 'send' ? [...SENT_AHEAD, ...SENT] : SENT;
  const rest = list(statement.rest).find(({ mode }) => mode === 'server');
  const types = wanted.map((type) => typeCapabilities(type, list(rest?.resource)));
  const isNeeded = ({ type }: TypeCapabilities) => SOMETIMES[type] === undefined;
  const faults = types.filter(isNeeded).flatMap((one) => typeFaults(one, settings));
  if (!version?.startsWith('4.0'))
    faults.unshift(`It speaks FHIR ${version ?? 'of no version'}, not R4 (4.0.1).`);
  const software = (statement.software ?? {}) as Json;
  return {
    ok: faults.length === 0,
    fhirVersion: version,
    software: [text(software.name), text(software.version)].filter((part) => part !== null).join(' ') || null,
    types,
    faults,
    advice: [...types.flatMap((one) => adviceOnType(one, settings)), ...adviceOn(types, settings)],
  };
}

function typeCapabilities(type: string, resources: readonly Json[]): TypeCapabilities {
  const resource = resources.find((one) => one.type === type) ?? {};
  const can = (code: string) => list(resource.interaction).some((one) => one.code === code);
  return {
    type,
    create: can('create'),
    update: can('update'),
    search: can('search-type'),
    updateCreate: resource.updateCreate === true,
    conditionalCreate: resource.conditionalCreate === true,
    enforcesReferences:
      Array.isArray(resource.referencePolicy) && resource.referencePolicy.includes('enforced'),
    searchByIdentifier: list(resource.searchParam).some(({ name }) => name === 'identifier'),
  };
}

function typeFaults(one: TypeCapabilities, { idPolicy }: TargetSettings): string[] {
  const faults: string[] = [];
  if (!one.update) faults.push(`${one.type}: it takes no update (PUT).`);
  if (idPolicy === 'client' && one.update && !one.updateCreate)
    faults.push(`${one.type}: it takes no ids of ours (updateCreate). Use --id-policy server.`);
  if (idPolicy === 'server' && !one.create) faults.push(`${one.type}: it takes no create (POST).`);
  return faults;
}

/** What a target that has no need of the type does without. */
function adviceOnType(one: TypeCapabilities, settings: TargetSettings): string[] {
  const neededBy = SOMETIMES[one.type];
  if (neededBy === undefined) return [];
  return typeFaults(one, settings).map((fault) => `${fault} Only ${neededBy} need it.`);
}

function adviceOn(
  types: readonly TypeCapabilities[],
  { idPolicy, referencePolicy }: TargetSettings,
): string[] {
  const named = (of: readonly TypeCapabilities[]) => of.map(({ type }) => type).join(', ');
  const advice: string[] = [];
  const unguarded = types.filter((one) => one.create && !one.conditionalCreate);
  if (idPolicy === 'server' && unguarded.length > 0)
    advice.push(
      `${named(unguarded)}: it does not promise conditional create; after a lost answer only the search by identifier guards against doubles. A create that it carries out after its time-out makes one all the same: give it a long --timeout-ms.`,
    );
  const unsearched = types.filter((one) => one.create && !(one.search && one.searchByIdentifier));
  if (idPolicy === 'server' && unsearched.length > 0)
    advice.push(
      `${named(unsearched)}: it does not promise a search by identifier; after a lost answer only conditional create guards against doubles.`,
    );
  const enforcing = types.filter((one) => one.enforcesReferences);
  if (referencePolicy === 'literal' && enforcing.length > 0)
    advice.push(
      `${named(enforcing)}: it enforces references. Unless it has the patients already, use --references send.`,
    );
  return advice;
}

function list(value: unknown): Json[] {
  return Array.isArray(value)
    ? value.filter((item): item is Json => typeof item === 'object' && item !== null)
    : [];
}

/** Short and printable, or null. */
function text(value: unknown): string | null {
  return typeof value === 'string' && /^[\x20-\x7e]{1,80}$/.test(value) ? value : null;
}
