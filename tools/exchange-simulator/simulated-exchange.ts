/**
 * A local exchange: checks signatures as a real one must, answers idempotently, fails when told to, and confirms
 * with signed callbacks. It keeps everything in memory.
 */
import { createHmac, hash } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyRequest } from '../../src/exchange/signing/verify-request.ts';
import { readBytes } from '../../src/platform/http/body.ts';
import { http } from '../../src/platform/node-http.ts';
import { createLimit } from '../../src/publish/send/limit.ts';
import { type Behaviour, CHANGES, changedBehaviour } from './behaviour.ts';
import type { ConnectionFile } from './connection-file.ts';

export interface SimulatedExchangeOptions {
  connection: ConnectionFile;
  /** Takes deliveries; any does where there is none. */
  path?: string | undefined;
  /** Header that callbacks are signed in. */
  callbackHeader: string;
  behaviour: Behaviour;
  /** Why the exchange refuses this patient, answered with 422; undefined when it does not. */
  refuse?: (patient: unknown) => string | undefined;
  now: () => Date;
  /** Told everything that happens. */
  onEvent: (event: SimulatorEvent) => void;
}

export type SimulatorEvent =
  /** `test`: of the connection. */
  | ({
      what: 'delivery' | 'test';
      verdict: string;
      answer: number | 'dropped';
      again: boolean;
    } & Partial<Envelope>)
  | {
      what: 'callback';
      deliveryId: string;
      status: string;
      assignedId: string | null;
      answer: number | string;
    }
  | { what: 'behaviour'; behaviour: Behaviour };

interface Envelope {
  deliveryId: string;
  event: string;
  patientId: string;
  sequence: number;
}

const TOLERANCE_MS = 300_000;
const MAX_BODY_BYTES = 4_194_304;
const CALLBACK_TRIES = 5;
/** An import brings thousands of deliveries at once. As many callbacks would leave the service no time for anything else. */
const CALLBACKS_AT_ONCE = 8;
const ACCEPTED = 202;
const REFUSED = 422;
/** The verdict on a request to another path. */
const ELSEWHERE = 'unchecked';

/** `POST /control` with JSON changes the behaviour; every request to another path is a delivery. */
export function createSimulatedExchange(options: SimulatedExchangeOptions): Server {
  const taken = new Set<string>();
  const nonces = new Map<string, number>();
  const inTurn = createLimit(CALLBACKS_AT_ONCE);
  let { behaviour } = options;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBytes(request, MAX_BODY_BYTES);
    if (request.url === '/control') return control(body, response);
    const arrivedAs = behaviour;
    if (arrivedAs.down) return drop(request);
    await sleep(arrivedAs.delayMs);
    let verdict = check(request, body);
    if (verdict === 'wrong-signature' && (await options.connection.renew())) verdict = check(request, body);
    const sent = parse(body) as Sent | undefined;
    const envelope = envelopeOf(sent);
    const refusal =
      verdict === 'valid' && envelope !== undefined ? options.refuse?.(sent?.resource) : undefined;
    const what = kindOf(sent);
    const answer = refusal === undefined ? answerTo(verdict, envelope, arrivedAs, what === 'test') : REFUSED;
    const again = envelope !== undefined && taken.has(envelope.deliveryId);
    options.onEvent({ what, verdict, answer, again, ...envelope });
    reply(response, answer, { verdict, message: refusal }, retryAfter(answer, arrivedAs));
    if (answer !== ACCEPTED || envelope === undefined) return;
    taken.add(envelope.deliveryId);
    if (arrivedAs.callbacks) await confirm(envelope, Math.random() < arrivedAs.rejectRate);
  }

  function answerTo(
    verdict: string,
    envelope: Envelope | undefined,
    { failRate, failStatus }: Behaviour,
    isTest: boolean,
  ): number {
    if (verdict === ELSEWHERE) return 404;
    if (verdict !== 'valid') return 401;
    if (envelope === undefined && !isTest) return 400;
    return Math.random() < failRate ? failStatus : ACCEPTED;
  }

  function drop(request: IncomingMessage): void {
    options.onEvent({ what: 'delivery', verdict: 'unchecked', answer: 'dropped', again: false });
    request.socket.destroy();
  }

  function check(request: IncomingMessage, body: Buffer): string {
    if (options.path !== undefined && request.url?.split('?')[0] !== options.path) return ELSEWHERE;
    const now = options.now();
    // The oldest come first.
    for (const [nonce, until] of nonces) {
      if (until >= now.getTime()) break;
      nonces.delete(nonce);
    }
    const firstUse = (nonce: string): boolean => {
      if (nonces.has(nonce)) return false;
      nonces.set(nonce, now.getTime() + 2 * TOLERANCE_MS);
      return true;
    };
    const { headers, method = '', url: target = '' } = request;
    // Whoever knows the secret may call; a real exchange knows the client id too.
    const clientId = String(headers['x-client-id'] ?? '');
    const { secrets } = options.connection.credentials;
    return verifyRequest(
      { method, target, headers, body },
      { clientId, secrets, now, toleranceMs: TOLERANCE_MS, firstUse },
    );
  }

  function control(body: Buffer, response: ServerResponse): void {
    const changed = changedBehaviour(behaviour, parse(body));
    if (changed === undefined) {
      reply(response, 400, { message: `Nothing was changed. ${CHANGES}`, ...behaviour });
      return;
    }
    behaviour = changed;
    options.onEvent({ what: 'behaviour', behaviour });
    reply(response, 200, behaviour);
  }

  async function confirm({ deliveryId, patientId }: Envelope, rejected: boolean): Promise<void> {
    const status = rejected ? 'rejected' : 'accepted';
    const assignedId = rejected ? null : assignedIdOf(patientId);
    const message = rejected ? 'Rejected by the simulator.' : null;
    const body = JSON.stringify({ deliveryId, status, assignedId, message });
    for (let attempt = 1; attempt <= CALLBACK_TRIES; attempt += 1) {
      const { callback } = options.connection.credentials;
      const answer = await inTurn(() => callBack({ ...callback, header: options.callbackHeader }, body));
      options.onEvent({ what: 'callback', deliveryId, status, assignedId, answer });
      const again =
        answer === 401 ? await options.connection.renew() : typeof answer === 'string' || answer >= 500;
      if (!again) return;
      await sleep(500 * attempt);
    }
  }

  return http.createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
}

function retryAfter(answer: number, { failStatus, retryAfterSeconds }: Behaviour): Record<string, string> {
  return answer === failStatus && retryAfterSeconds > 0 ? { 'retry-after': String(retryAfterSeconds) } : {};
}

/** The same patient gets the same id, also from a simulator that was started again. */
function assignedIdOf(patientId: string): string {
  return `SIM-${hash('sha256', patientId, 'hex').slice(0, 10).toUpperCase()}`;
}

async function callBack(
  { url, secret, header }: { url: string; secret: string; header: string },
  body: string,
): Promise<number | string> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  try {
    const headers = { 'content-type': 'application/json', [header]: signature };
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    return (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).name;
  }
}

/** What a request may hold. */
interface Sent {
  deliveryId?: unknown;
  event?: unknown;
  sequence?: unknown;
  resource?: { id?: unknown };
}

function envelopeOf(sent: Sent | undefined): Envelope | undefined {
  if (typeof sent?.deliveryId !== 'string' || typeof sent.resource?.id !== 'string') return undefined;
  const { deliveryId, event, sequence, resource } = sent;
  return { deliveryId, event: String(event), patientId: String(resource.id), sequence: Number(sequence) };
}

/** A test of the connection names no patient. */
function kindOf(sent: Sent | undefined): 'delivery' | 'test' {
  return sent?.event === 'connection.test' && sent.resource === undefined ? 'test' : 'delivery';
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function reply(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(`${JSON.stringify(body)}\n`);
}
