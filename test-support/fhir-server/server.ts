/**
 * A FHIR R4 server: create, conditional create, update, read, search by identifier, versions, referential integrity, and
 * faults by script. Its base address is `<origin>/fhir`. Options:
 *
 * [--no-client-ids] [--no-declared-ids] [--no-deletes] [--no-integrity] [--no-conditional-create] [--no-search]
 * [--no-versions] [--sequential-ids] [--require "Bearer token"] [--latency-ms 5]
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  answerWith,
  bodyOf,
  outcomeOf,
  perform,
  readPath,
} from '../../tools/fhir-simulator/fhir-interface.ts';
import { type CallOutcome, FhirStore, type Resource } from '../../tools/fhir-simulator/fhir-store.ts';
import { listenHere } from '../service/free-port.ts';
import { createScript, type Fault } from './faults.ts';

interface Seen {
  method: string;
  path: string;
  headers: Record<string, unknown>;
  body: string;
  fault: string | undefined;
}

/** What happened since the last control that was neither `state` nor `release`. */
interface Marks {
  seen: Seen[];
  held: (() => void)[];
  late: number;
  maxInFlight: number;
  sockets: Set<unknown>;
}

/** What a test says to the server, beside the FHIR interface. */
export interface FhirControl {
  script(faults: Fault[]): void;
  reset(): void;
  remove(key: string, deleted: boolean): void;
  put(resource: Resource, id: string): void;
  release(): void;
  /** As JSON: what it holds and has seen at this moment. */
  state(): string;
}

export interface OpenFhirServer {
  origin: string;
  control: FhirControl;
  close(): Promise<void>;
}

/** Answers a call below `/control/`. */
type AnswerControl = (
  control: FhirControl,
  url: string,
  call: { request: IncomingMessage; response: ServerResponse },
) => Promise<void>;

/** `answerControl`: of a server that is a process of its own. */
export async function openFhirServer(
  args: readonly string[],
  answerControl?: AnswerControl,
): Promise<OpenFhirServer> {
  const { store, required, latencyMs } = readOptions(args);
  const script = createScript();
  const marks = noMarks();
  let inFlight = 0;

  const server = createServer((request, response) => {
    const url = request.url ?? '/';
    void (answerControl !== undefined && url.startsWith('/control/')
      ? answerControl(control, url, { request, response })
      : fhir(url, request, response));
  });

  async function fhir(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    marks.sockets.add(request.socket);
    inFlight += 1;
    marks.maxInFlight = Math.max(marks.maxInFlight, inFlight);
    response.on('close', () => {
      inFlight -= 1;
    });
    const body = await text(request);
    if (latencyMs > 0) await sleep(latencyMs);
    const { method = 'GET', headers } = request;
    const { path, type, id, query } = readPath(url);
    const fault = script.next({ method, type, id });
    marks.seen.push({ method, path, headers, body, fault: fault?.kind });
    if (required !== undefined && headers.authorization !== required)
      return answerWith(response, { status: 401, problem: { code: 'login', text: 'Credentials required' } });
    const work = (): CallOutcome | Resource => perform(store, { method, type, id, query, body, headers });
    if (fault === undefined) return answerWith(response, work());
    await commit(fault, work, { request, response, marks });
  }

  const forget = () => void Object.assign(marks, noMarks());
  const control: FhirControl = {
    script(faults) {
      script.set(faults);
      forget();
    },
    reset() {
      store.clear();
      forget();
    },
    remove(key, deleted) {
      store.remove(key, deleted);
      forget();
    },
    put(resource, id) {
      store.update(resource, id);
      forget();
    },
    release() {
      for (const answer of marks.held.splice(0)) answer();
    },
    state() {
      const { seen, held, late, maxInFlight, sockets } = marks;
      const counts = { held: held.length, late, maxInFlight, connections: sockets.size };
      return JSON.stringify({ resources: store.current(), seen, ...counts });
    },
  };
  return {
    origin: `http://127.0.0.1:${await listenHere(server)}`,
    control,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function noMarks(): Marks {
  return { seen: [], held: [], late: 0, maxInFlight: 0, sockets: new Set() };
}

function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'no-client-ids': { type: 'boolean', default: false },
      'no-declared-ids': { type: 'boolean', default: false },
      'no-deletes': { type: 'boolean', default: false },
      'no-integrity': { type: 'boolean', default: false },
      'no-conditional-create': { type: 'boolean', default: false },
      'no-search': { type: 'boolean', default: false },
      'no-versions': { type: 'boolean', default: false },
      'sequential-ids': { type: 'boolean', default: false },
      require: { type: 'string' },
      'latency-ms': { type: 'string', default: '0' },
    },
  });
  const store = new FhirStore({
    clientIds: !values['no-client-ids'],
    declaresClientIds: !values['no-declared-ids'],
    deletes: !values['no-deletes'],
    referentialIntegrity: !values['no-integrity'],
    conditionalCreate: !values['no-conditional-create'],
    search: !values['no-search'],
    versions: !values['no-versions'],
    sequentialIds: values['sequential-ids'],
    name: 'Test FHIR server',
  });
  return { store, required: values.require, latencyMs: Number(values['latency-ms']) };
}

/** Commit the fault, around or instead of the work. */
async function commit(
  fault: Fault,
  work: () => CallOutcome | Resource,
  { request, response, marks }: { request: IncomingMessage; response: ServerResponse; marks: Marks },
): Promise<void> {
  switch (fault.kind) {
    case 'drop':
      return void request.socket.destroy();
    case 'drop-after':
      work();
      return void request.socket.destroy();
    case 'reset': {
      const answer = JSON.stringify(bodyOf(work()));
      response.writeHead(200, {
        'content-type': 'application/fhir+json',
        'content-length': answer.length + 10,
      });
      response.write(answer.slice(0, answer.length / 2));
      await sleep(2);
      return void request.socket.resetAndDestroy();
    }
    case 'slow':
      await sleep(fault.delayMs ?? 300);
      marks.late += 1;
      return answerWith(response, work());
    case 'slow-after': {
      const done = work();
      await sleep(fault.delayMs ?? 300);
      return answerWith(response, done);
    }
    case 'wrong-json': {
      const answer = JSON.stringify(bodyOf(work()));
      response.writeHead(200, { 'content-type': 'application/fhir+json' });
      return void response.end(answer.slice(0, answer.length / 2));
    }
    case 'other-id': {
      const done = work();
      const { resource } = done as CallOutcome;
      return answerWith(response, { ...done, resource: { ...resource, id: '999' } } as CallOutcome);
    }
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      return void response.end('<html><body>Sign in to continue</body></html>');
    case 'hold': {
      const done = work();
      marks.held.push(() => answerWith(response, done));
      return;
    }
    case 'status-after':
    case 'status': {
      if (fault.kind === 'status-after') work();
      const { status = 500, diagnostics = 'Scripted fault', expression, headers = {} } = fault;
      response.writeHead(status, { 'content-type': 'application/fhir+json', ...headers });
      return void response.end(JSON.stringify(outcomeOf('processing', diagnostics, expression)));
    }
  }
}
