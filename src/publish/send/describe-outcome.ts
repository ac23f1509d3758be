/**
 * What an OperationOutcome says in codes: severity, code and element of each issue. Pure.
 *
 * Its texts are left out. Servers quote names, results and whole resources in them (docs/adr/0106).
 * Contract: PUB-29.
 */
import type { Issue } from './read-answer.ts';

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

/** A type, then elements: `Observation.component[1].value.ofType(Quantity)` (FHIR R4, "OperationOutcome.issue.expression"). */
const PATH = /^[A-Z][A-Za-z]{1,40}(?:\.[a-z][A-Za-z]{0,40}(?:\[\d{1,3}\]|\([A-Z]?[A-Za-z]{0,40}\))?){0,12}$/;

const MAX_ISSUES = 5;

/** One line for the issues that matter. Empty when there are none. `type`: of the resource that was sent. */
export function describeIssues(issues: readonly Issue[], type: string): string {
  const worst = issues.filter(({ severity }) => severity === 'fatal' || severity === 'error');
  const told = worst.length > 0 ? worst : issues;
  const lines = told.slice(0, MAX_ISSUES).map((issue) => describeIssue(issue, type));
  if (told.length > MAX_ISSUES) lines.push(`and ${told.length - MAX_ISSUES} more`);
  return lines.join('; ');
}

function describeIssue({ severity, code, expression, location }: Issue, type: string): string {
  const parts = [SEVERITIES.includes(severity as string) ? severity : 'error'];
  if (ISSUE_TYPES.has(code)) parts.push(code);
  const path = [expression, location].flat().find((given) => isPathIn(given, type));
  if (path !== undefined) parts.push(`at ${path}`);
  return parts.join(' ');
}

function isPathIn(given: unknown, type: string): given is string {
  return typeof given === 'string' && PATH.test(given) && given.split('.')[0] === type;
}
