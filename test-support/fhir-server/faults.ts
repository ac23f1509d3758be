/** Faults that the FHIR server commits as a script says. */

export type FaultKind =
  /** The connection goes before the request is done. */
  | 'drop'
  /** The request is done, and the connection goes before the answer. */
  | 'drop-after'
  /** The request is done, and the connection is reset half way through the answer. */
  | 'reset'
  /** Waits `delayMs`, then does the request. */
  | 'slow'
  /** Does the request, and answers after `delayMs`. */
  | 'slow-after'
  /** Does the request, and answers with half a JSON document. */
  | 'wrong-json'
  /** Does the request, and answers with the id 999. */
  | 'other-id'
  /** Does nothing, and answers 200 with a page of a proxy. */
  | 'html'
  /** Does the request, and does not answer before `release`. */
  | 'hold'
  /** Answers `status` with an OperationOutcome, and does nothing. */
  | 'status'
  /** Does the request, and answers `status`. */
  | 'status-after';

export interface Fault {
  kind: FaultKind;
  /** The n-th write since the script was set, from 1 on. Without it, the first request that fits the rest. */
  nth?: number;
  /** `Observation/<id>`, of a PUT. */
  key?: string;
  type?: string;
  method?: string;
  /** How often; default once. */
  times?: number;
  status?: number;
  delayMs?: number;
  headers?: Record<string, string>;
  /** Diagnostics of the OperationOutcome. */
  diagnostics?: string;
  expression?: string[];
}

export interface WriteSeen {
  method: string;
  type: string;
  id: string | undefined;
}

/** A script of faults. `next` gives the fault that is due for a request, and counts it as done. */
export function createScript(): {
  set(faults: Fault[]): void;
  next(request: WriteSeen): Fault | undefined;
} {
  let script: Fault[] = [];
  let writes = 0;
  return {
    set(faults) {
      script = faults.map((fault) => ({ times: 1, ...fault }));
      writes = 0;
    },
    next({ method, type, id }) {
      if (method !== 'GET') writes += 1;
      const due = script.find(
        (fault) =>
          (fault.times ?? 0) > 0 &&
          (fault.nth === undefined || (fault.nth === writes && method !== 'GET')) &&
          (fault.type === undefined || fault.type === type) &&
          (fault.key === undefined || fault.key === `${type}/${id}`) &&
          (fault.method === undefined ? method !== 'GET' : fault.method === method),
      );
      if (due !== undefined) {
        due.times = (due.times ?? 1) - 1;
        // What strikes more than once strikes the same resource again.
        if (due.nth !== undefined) {
          due.nth = undefined as never;
          due.type = type;
          if (id !== undefined) due.key = `${type}/${id}`;
        }
      }
      return due;
    },
  };
}
