/**
 * OperationOutcome (FHIR R4, "OperationOutcome"): how FHIR clients read why a call was refused.
 * Contract: HTTP-6.
 */

export interface OperationOutcome {
  resourceType: 'OperationOutcome';
  issue: { severity: 'error' | 'information'; code: string; diagnostics: string }[];
}

/** Codes of http://hl7.org/fhir/issue-type, by HTTP status. */
const ISSUE_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'login',
  403: 'forbidden',
  404: 'not-found',
  405: 'not-supported',
  406: 'not-supported',
  409: 'conflict',
  413: 'too-long',
  415: 'not-supported',
  422: 'processing',
  429: 'throttled',
  500: 'exception',
  503: 'transient',
};

/** One issue, with the error's message. */
export function operationOutcome(statusCode: number, message: string): OperationOutcome {
  const code = ISSUE_TYPES[statusCode] ?? (statusCode < 500 ? 'processing' : 'exception');
  return { resourceType: 'OperationOutcome', issue: [{ severity: 'error', code, diagnostics: message }] };
}

/** Something to know that is no fault. */
export function informationOutcome(message: string): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'information', code: 'informational', diagnostics: message }],
  };
}
