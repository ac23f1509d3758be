/** A local exchange: a real HTTP server that checks signatures and answers as a test tells it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Verdict, verifyRequest } from '../../src/exchange/signing/verify-request.ts';
import { listenHere } from '../service/free-port.ts';
import { waitUntil } from '../wait-until.ts';

export interface Arrival {
  headers: Record<string, string | string[] | undefined>;
  method: string;
  target: string;
  body: string;
  /** The envelope. */
  envelope: { deliveryId: string; event: string; sequence: number; resource: { id: string } } & Record<
    string,
    unknown
  >;
  verdict: Verdict | 'unchecked';
  at: number;
}

/** What the exchange does with one request: answer, or drop the connection. */
export type Behaviour =
  | {
      status: number;
      headers?: Record<string, string>;
      body?: string;
      delayMs?: number;
      /** Not answered before it is settled. */
      after?: Promise<unknown> | undefined;
    }
  | 'drop';

export interface TestExchange {
  url: string;
  arrivals: Arrival[];
  /** Secrets and client id that signatures are checked against. */
  trust: { clientId: string; secrets: string[]; now?: () => Date } | undefined;
  behave: (arrival: Arrival) => Behaviour;
  /** Resolves once `count` requests have come. */
  waitFor(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startExchange(path = '/patients'): Promise<TestExchange> {
  const server = createServer((request, response) => void receive(request, response));
  const nonces = new Set<string>();
  const exchange: TestExchange = {
    url: `http://127.0.0.1:${await listenHere(server)}${path}`,
    arrivals: [],
    trust: undefined,
    behave: () => ({ status: 200, body: '{}' }),
    async waitFor(count) {
      await waitUntil(() => exchange.arrivals.length >= count, `${count} requests came`);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { headers, method = '', url: target = '' } = request;
    const { trust } = exchange;
    const arrival: Arrival = {
      headers,
      method,
      target,
      body: body.toString(),
      envelope: JSON.parse(body.toString()) as Arrival['envelope'],
      at: Date.now(),
      verdict:
        trust === undefined
          ? 'unchecked'
          : verifyRequest(
              { method, target, headers, body },
              {
                ...trust,
                now: trust.now?.() ?? new Date(),
                toleranceMs: 300_000,
                firstUse: (nonce) => !nonces.has(nonce) && nonces.add(nonce) !== undefined,
              },
            ),
    };
    const behaviour = exchange.behave(arrival);
    exchange.arrivals.push(arrival);
    if (behaviour === 'drop') return void request.socket.destroy();
    if (behaviour.delayMs !== undefined) await sleep(behaviour.delayMs);
    await behaviour.after;
    response.writeHead(behaviour.status, { 'content-type': 'application/json', ...behaviour.headers });
    response.end(behaviour.body ?? '{}');
  }
  return exchange;
}
