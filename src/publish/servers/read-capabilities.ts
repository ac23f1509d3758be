/**
 * Reads what a FHIR server says of itself and what that means for its policies (FHIR R4, "CapabilityStatement").
 * Contract: PUB-53, PUB-54.
 */

import { PUBLISHED_TYPES, SENT_AHEAD } from '../plan/resource-types.ts';
import type { FhirAnswer } from '../send/fhir-client.ts';
import { parseObject } from '../send/read-answer.ts';
import type { FhirServerSettings } from './fhir-server.ts';
import type { Probe } from './probe-fhir-server.ts';

export interface TypeCapabilities {
  type: string;
  create: boolean;
  update: boolean;
  search: boolean;
  /** PUT to an id that is not there yet makes it; null where it does not say. */
  updateCreate: boolean | null;
  /** `If-None-Exist` is honoured. */
  conditionalCreate: boolean;
  /** References must lead to something. */
  enforcesReferences: boolean;
  searchByIdentifier: boolean;
}

export interface FhirServerCheck {
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

/** Types that a FHIR server may do without, and who needs them. */
const SOMETIMES: Readonly<Record<string, string>> = {
  ImagingStudy: 'imaging orders with studies',
  Location: 'encounters with a location',
  Specimen: 'orders with specimens',
};

type Json = Record<string, unknown>;

/**
 * What an answer to GET /metadata says about a FHIR server with these settings, and what a probe of it showed. What the server
 * does not declare is advice: many do more than they say. What it says no to is a fault.
 */
export function checkCapabilities(
  answer: FhirAnswer,
  settings: FhirServerSettings,
  probe?: Probe,
): FhirServerCheck {
  const nothing = { fhirVersion: null, software: null, types: [], advice: [] };
  const failed = (fault: string): FhirServerCheck => ({ ok: false, ...nothing, faults: [fault] });
  if (answer.kind === 'unanswered')
    return failed(`The server does not answer (${answer.code}). Check the base address and the network.`);
  if (answer.status === 401 || answer.status === 403)
    return failed(
      `The server refuses our credentials (${answer.status}). Set the secret again with: npx interchange target rotate-secret`,
    );
  const statement = answer.body === undefined ? undefined : parseObject(answer.body);
  if (answer.status !== 200 || statement?.resourceType !== 'CapabilityStatement')
    return failed(
      `The server answers /metadata with ${answer.status} and no CapabilityStatement. Check the base address.`,
    );
  const version = text(statement.fhirVersion);
  const sendsAhead = settings.referencePolicy === 'send';
  const wanted = PUBLISHED_TYPES.filter((type) => sendsAhead || !SENT_AHEAD.has(type));
  const rest = list(statement.rest).find(({ mode }) => mode === 'server');
  const types = wanted.map((type) => typeCapabilities(type, list(rest?.resource)));
  const gaps = gapsOf(types, settings, probe);
  const isFault = ({ refused, of }: Gap) => refused && of.some(isNeeded);
  const faults = [...gaps.filter(isFault).map(({ text }) => text), ...(probe?.faults ?? [])];
  if (!version?.startsWith('4.0'))
    faults.unshift(`The server declares FHIR version ${version ?? 'none'}, not R4 (4.0.1).`);
  const software = (statement.software ?? {}) as Json;
  return {
    ok: faults.length === 0,
    fhirVersion: version,
    software: [text(software.name), text(software.version)].filter((part) => part !== null).join(' ') || null,
    types,
    faults,
    advice: [
      ...gaps.filter((one) => !isFault(one)).map(({ text }) => text),
      ...adviceOn(types, settings),
      ...(probe?.advice ?? []),
    ],
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
    updateCreate: typeof resource.updateCreate === 'boolean' ? resource.updateCreate : null,
    conditionalCreate: resource.conditionalCreate === true,
    enforcesReferences:
      Array.isArray(resource.referencePolicy) && resource.referencePolicy.includes('enforced'),
    searchByIdentifier: list(resource.searchParam).some(({ name }) => name === 'identifier'),
  };
}

/** What publishing needs of some types, and what the server says of that. */
interface Gap {
  of: readonly TypeCapabilities[];
  /** It says no, rather than nothing. */
  refused: boolean;
  text: string;
}

function isNeeded({ type }: TypeCapabilities): boolean {
  return SOMETIMES[type] === undefined;
}

function whoNeeds(of: readonly TypeCapabilities[]): string {
  return `Only ${of.map(({ type }) => SOMETIMES[type]).join(' and ')} need it.`;
}

function gapsOf(types: readonly TypeCapabilities[], { idPolicy }: FhirServerSettings, probe?: Probe): Gap[] {
  const isClient = idPolicy === 'client';
  const isTaken = probe?.faults.length === 0;
  const open = types.filter(({ type }) => !isTaken || type !== probe.resource.resourceType);
  const gap = (is: (one: TypeCapabilities) => boolean, says: string, refused = false): Gap[] => {
    const of = open.filter(is);
    if (of.length === 0) return [];
    const parts = [`${of.map(({ type }) => type).join(', ')}: ${says}.`];
    if (isTaken) parts.push(`The probe, an ${probe.resource.resourceType}, was taken.`);
    if (probe === undefined && !refused) parts.push('Find out with --probe.');
    if (!of.some(isNeeded)) parts.push(whoNeeds(of));
    return [{ of, refused: refused && !isTaken, text: parts.join(' ') }];
  };
  return [
    ...gap(({ update }) => !update, 'the server does not declare that it accepts updates (PUT)'),
    ...gap(
      ({ update, updateCreate }) => isClient && update && updateCreate === null,
      'the server does not declare that it accepts our ids (updateCreate). Many servers accept them all the same; for one that does not, use --id-policy server',
    ),
    ...gap(
      ({ update, updateCreate }) => isClient && update && updateCreate === false,
      'the server declares that it does not accept our ids (updateCreate: false). Use --id-policy server',
      true,
    ),
    ...gap(
      ({ create }) => !isClient && !create,
      'the server does not declare that it accepts creates (POST)',
    ),
  ];
}

function adviceOn(
  types: readonly TypeCapabilities[],
  { idPolicy, referencePolicy }: FhirServerSettings,
): string[] {
  const named = (of: readonly TypeCapabilities[]) => of.map(({ type }) => type).join(', ');
  const advice: string[] = [];
  const unguarded = types.filter((one) => one.create && !one.conditionalCreate);
  if (idPolicy === 'server' && unguarded.length > 0)
    advice.push(
      `${named(unguarded)}: the server does not declare conditional create. If an answer is lost, only the search by identifier prevents duplicates, and a create that the server carries out after the time-out makes a duplicate. Set a long --timeout-ms.`,
    );
  const unsearched = types.filter((one) => one.create && !(one.search && one.searchByIdentifier));
  if (idPolicy === 'server' && unsearched.length > 0)
    advice.push(
      `${named(unsearched)}: the server does not declare a search by identifier. If an answer is lost, only conditional create prevents duplicates.`,
    );
  const enforcing = types.filter((one) => one.enforcesReferences);
  if (referencePolicy === 'literal' && enforcing.length > 0)
    advice.push(
      `${named(enforcing)}: the server checks that references lead somewhere. Unless it has the patients already, use --references send.`,
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
