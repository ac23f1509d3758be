/** Why a resource could not be written, as callers are told. */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { keyOf, type ResourceKey } from '../plan/content.fhir.ts';
import { describeIssues } from './describe-outcome.ts';
import type { FhirAnswer } from './fhir-client.ts';
import { issuesOf } from './read-answer.ts';
import { isTransient } from './retry.ts';

/** A resource could not be written. The message is fit for callers: no clinical values. */
export class WriteFailure extends Error {
  override name = 'WriteFailure';
  readonly key: ResourceKey;
  readonly method: string;
  readonly status: number | undefined;
  /** The server did not answer, or not as it would at another time: nothing need be wrong with the resource. */
  readonly unavailable: boolean;

  constructor(
    message: string,
    key: ResourceKey,
    { method, answer }: { method: string; answer?: FhirAnswer | undefined },
  ) {
    super(message);
    this.key = key;
    this.method = method;
    this.status = answer?.kind === 'answered' ? answer.status : undefined;
    this.unavailable = answer?.kind === 'unanswered' || (answer !== undefined && isTransient(answer.status));
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function failure(resource: FhirResource, method: string, answer: FhirAnswer): WriteFailure {
  const options = { method, answer };
  if (answer.kind === 'unanswered')
    return new WriteFailure(`${method} was not answered (${answer.code})`, keyOf(resource), options);
  const { status } = answer;
  const issues = describeIssues(issuesOf(answer), resource.resourceType);
  const said = isSuccess(status) ? `${status} with a body that is not a FHIR answer` : `${status}`;
  const parts = [
    `${method} answered ${said}`,
    issues === '' ? undefined : `(${issues})`,
    hint(method, status, issues),
  ];
  return new WriteFailure(parts.filter((part) => part !== undefined).join(' '), keyOf(resource), options);
}

/** FHIR R4, "Rejecting updates": 404 for a type or address that is none, 405 where ids of ours are not taken. */
function hint(method: string, status: number, issues: string): string | undefined {
  if (status === 401 || status === 403)
    return '- the target refuses our credentials: check the secret of the target';
  if (status === 405 && method === 'PUT')
    return '- the target may not accept our ids: use the id policy server';
  if (status === 404 && method !== 'GET') return '- check the base address of the target';
  if (status === 422 && issues.includes('not-found'))
    return '- the server may lack a record that this one refers to: use the reference policy send';
  if (status >= 300 && status < 400) return '- redirects are not followed: correct the base address';
  return undefined;
}
