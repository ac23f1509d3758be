/**
 * What an OperationOutcome says in codes: severity, code and element of each issue. Pure.
 *
 * Its texts are left out. Servers quote names, results and whole resources in them (docs/adr/0106).
 * Contract: PUB-29.
 */
import { R4_ELEMENTS } from '../../clinical/description/r4-elements.ts';
import { type Issue, isError } from './read-answer.ts';

/** FHIR R4, value set "issue-severity". */
const SEVERITIES = ['fatal', 'error', 'warning', 'information'];

/** FHIR R4, value set "issue-type". */
const ISSUE_TYPES: ReadonlySet<unknown> = new Set(
  (
    'invalid structure required value invariant security login unknown expired forbidden suppressed processing ' +
    'not-supported duplicate multiple-matches not-found deleted too-long code-invalid extension too-costly ' +
    'business-rule conflict transient lock-error no-store exception timeout incomplete throttled informational'
  ).split(' '),
);

/** Elements of data types and of parts of resources (FHIR R4), beside those of the resources themselves. */
const PART_ELEMENTS =
  'coding system version code display userSelected text use type value period assigner comparator unit reference ' +
  'start end low high numerator denominator repeat bounds count duration frequency given family prefix suffix rank ' +
  'line city district state postalCode country contentType language data url size hash title creation ' +
  'authorReference authorString time author versionId lastUpdated source profile security tag extension ' +
  'individual actor condition diagnosis statusHistory classHistory location physicalType hospitalization ' +
  'relationship name telecom address gender organization communication preferred link other appliesTo age ' +
  'comment component referenceRange uid number modality description instance sopClass bodySite laterality started ' +
  'performer function specimen media active id status resolve';

const ELEMENTS: ReadonlySet<string> = new Set(
  [...Object.values(R4_ELEMENTS), PART_ELEMENTS].flatMap((words) =>
    words.split(/\s+/).map((word) => word.replace('[x]', '')),
  ),
);

/** One step of a path: an element, with its place in a list, or the type of a `value[x]`. */
const STEP =
  /^(?:([a-z][A-Za-z]*)(?:\[\d{1,3}\])?|ofType\((?:Quantity|CodeableConcept|string|boolean|integer|decimal|Range|Ratio|SampledData|time|dateTime|instant|Period|Reference|Timing|Identifier|Annotation|uri|code)\))$/;
const MAX_STEPS = 12;

const MAX_ISSUES = 5;

/** One line for the issues that matter. Empty when there are none. `type`: of the resource that was sent. */
export function describeIssues(issues: readonly Issue[], type: string): string {
  const worst = issues.filter(isError);
  const told = worst.length > 0 ? worst : issues;
  const lines = told.slice(0, MAX_ISSUES).map((issue) => describeIssue(issue, type));
  if (told.length > MAX_ISSUES) lines.push(`and ${told.length - MAX_ISSUES} more`);
  return lines.join('; ');
}

function describeIssue({ severity, code, expression, location }: Issue, type: string): string {
  const parts = [SEVERITIES.includes(severity as string) ? severity : 'error'];
  if (ISSUE_TYPES.has(code)) parts.push(code);
  const path = [expression, location].flat().flatMap((given) => pathIn(given, type) ?? [])[0];
  if (path !== undefined) parts.push(`at ${path}`);
  return parts.join(' ');
}

/**
 * As much of a path into the resource as names elements of FHIR:
 * `Observation.component[1].value.ofType(Quantity)` (FHIR R4, "OperationOutcome.issue.expression"). Servers put values into
 * paths too, and a word that is no element may be one.
 */
function pathIn(given: unknown, type: string): string | undefined {
  if (typeof given !== 'string') return undefined;
  const [first, ...steps] = given.split('.').slice(0, MAX_STEPS + 1);
  if (first !== type) return undefined;
  const wrong = steps.findIndex((step) => !isStep(step));
  const known = wrong === -1 ? steps : steps.slice(0, wrong);
  return known.length === 0 ? undefined : [type, ...known].join('.');
}

function isStep(step: string): boolean {
  const match = STEP.exec(step);
  return match !== null && (match[1] === undefined || ELEMENTS.has(match[1]));
}
