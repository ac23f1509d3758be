/** The FHIR server, in the process of the test or as one of its own, and what a test says to it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Resource } from '../../tools/fhir-simulator/fhir-store.ts';
import { endProcess } from '../service/end-process.ts';
import type { Fault } from './faults.ts';
import { openFhirServer } from './server.ts';

export interface SeenRequest {
  method: string;
  /** Below the base address. */
  path: string;
  headers: Record<string, string>;
  body: string;
  fault?: string;
}

export interface FhirServerState {
  /** Newest versions. */
  resources: (Resource & { id: string })[];
  /** Requests since the last control call that was neither `state` nor `release`. */
  seen: SeenRequest[];
  /** Requests that were done and wait for `release`. */
  held: number;
  /** Requests of the fault `slow` that were done by now. */
  late: number;
  maxInFlight: number;
  /** Connections that requests came on. */
  connections: number;
}

export interface TestFhirServer {
  base: string;
  /** Replace the script of faults; forgets the requests seen. */
  script(...faults: Fault[]): Promise<void>;
  state(): Promise<FhirServerState>;
  /** Answer the requests of the fault `hold`. */
  release(): Promise<void>;
  /** Forget every resource, fault and request. */
  reset(): Promise<void>;
  /** Lose a resource, or delete it (410). */
  remove(key: string, options?: { deleted: boolean }): Promise<void>;
  /** Put a resource there as someone else would. */
  put(resource: Resource & { id: string }): Promise<void>;
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

/** In this process: one of its own takes a fifth of a second of processor time to start. Options: server.ts. */
export async function serveFhir(...options: string[]): Promise<TestFhirServer> {
  const { origin, control, close } = await openFhirServer(options);
  return {
    base: `${origin}/fhir`,
    script: async (...faults) => control.script(faults),
    state: async () => JSON.parse(control.state()),
    release: async () => control.release(),
    async reset() {
      control.script([]);
      control.reset();
    },
    remove: async (key, { deleted } = { deleted: false }) => control.remove(key, deleted),
    put: async (resource) => control.put(resource, resource.id),
    stop: close,
  };
}

/** As a process of its own. */
export async function startFhirServer(...options: string[]): Promise<TestFhirServer> {
  // In a group of its own: Ctrl-C on a terminal ends the program that started it, and that program ends this one.
  const child = fork(MAIN, options, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], detached: true });
  if (child.stdout === null) throw new Error('no stdout');
  const [origin] = (await once(createInterface(child.stdout), 'line')) as [string];

  async function control(path: string, body?: object): Promise<unknown> {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${origin}/control/${path}`, init).catch((cause) => {
      const end = child.exitCode ?? child.signalCode;
      throw new Error(`The FHIR server ${end === null ? 'does not answer' : `ended by itself (${end})`}.`, {
        cause,
      });
    });
    return response.json();
  }

  return {
    base: `${origin}/fhir`,
    script: async (...faults) => void (await control('script', { faults })),
    state: async () => (await control('state')) as FhirServerState,
    release: async () => void (await control('release', {})),
    async reset() {
      await control('script', { faults: [] });
      await control('reset', {});
    },
    remove: async (key, { deleted } = { deleted: false }) => void (await control('remove', { key, deleted })),
    put: async (resource) => void (await control('put', { resource, id: resource.id })),
    stop: () => endProcess(child),
  };
}
