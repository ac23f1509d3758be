/**
 * A FHIR R4 server as a process: create, conditional create, update, read, search by identifier, versions,
 * referential integrity, and faults by script. Prints its origin; the base address is `<origin>/fhir`.
 *
 * node test-support/fhir-server/main.ts [--no-client-ids] [--no-declared-ids] [--no-deletes] [--no-integrity] [--no-conditional-create] [--no-search]
 *   [--no-versions] [--sequential-ids] [--require "Bearer token"] [--latency-ms 5]
 *
 * Control, beside the FHIR interface: POST /control/script, POST /control/reset, POST /control/remove,
 * POST /control/put, GET /control/state.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  answerWith,
  bodyOf,
  outcomeOf,
  parseResource,
  perform,
  readPath,
} from '../../tools/fhir-simulator/fhir-interface.ts';
import { type CallOutcome, FhirStore, type Resource } from '../../tools/fhir-simulator/fhir-store.ts';
import { listenHere } from '../service/free-port.ts';
import { createScript, type Fault } from './faults.ts';

const { values } = parseArgs({
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
const script = createScript();
const latencyMs = Number(values['latency-ms']);

interface Seen {
  method: string;
  path: string;
  headers: Record<string, unknown>;
  body: string;
  fault: string | undefined;
}
let seen: Seen[] = [];
let held: (() => void)[] = [];
let late = 0;
let inFlight = 0;
let maxInFlight = 0;
const sockets = new Set<unknown>();

const server = createServer((request, response) => {
  const url = request.url ?? '/';
  void (url.startsWith('/control/') ? control(url, request, response) : fhir(url, request, response));
});

async function fhir(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  sockets.add(request.socket);
  inFlight += 1;
  maxInFlight = Math.max(maxInFlight, inFlight);
  response.on('close', () => {
    inFlight -= 1;
  });
  const body = await text(request);
  if (latencyMs > 0) await sleep(latencyMs);
  const { method = 'GET', headers } = request;
  const { path, type, id, query } = readPath(url);
  const fault = script.next({ method, type, id });
  seen.push({ method, path, headers, body, fault: fault?.kind });
  if (values.require !== undefined && headers.authorization !== values.require)
    return answerWith(response, { status: 401, problem: { code: 'login', text: 'Credentials required' } });
  const work = (): CallOutcome | Resource => perform(store, { method, type, id, query, body, headers });
  if (fault === undefined) return answerWith(response, work());
  await commit(fault, work, { request, response });
}

/** Commit the fault, around or instead of the work. */
async function commit(
  fault: Fault,
  work: () => CallOutcome | Resource,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
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
      late += 1;
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
      held.push(() => answerWith(response, done));
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

async function control(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const given = parseResource(await text(request)) as unknown as Record<string, never> | undefined;
  if (url === '/control/script') script.set((given?.faults ?? []) as Fault[]);
  if (url === '/control/reset') store.clear();
  if (url === '/control/remove') store.remove(String(given?.key), given?.deleted === true);
  if (url === '/control/put') store.update(given?.resource as unknown as Resource, String(given?.id));
  if (url === '/control/release') for (const answer of held.splice(0)) answer();
  const connections = sockets.size;
  const state = { resources: store.current(), seen, held: held.length, late, maxInFlight, connections };
  if (url !== '/control/state' && url !== '/control/release') {
    seen = [];
    held = [];
    late = 0;
    maxInFlight = 0;
    sockets.clear();
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(url === '/control/state' ? JSON.stringify(state) : '{}');
}

process.stdout.write(`http://127.0.0.1:${await listenHere(server)}\n`);
process.on('disconnect', () => process.exit());
