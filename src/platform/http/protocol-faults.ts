/**
 * What Node.js would answer by itself, or not at all: faults of HTTP, answered in the one error shape.
 * Contract: HTTP-17, HTTP-18, HTTP-19.
 */
import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AllowedMethods } from './allowed-methods.ts';
import { errorBody } from './errors.ts';

/** Bytes of the request line and the headers together, at most. */
export const MAX_HEADER_BYTES = 16_384;

/** An answer that is in no log line, so it has no code. */
interface Fault {
  statusCode: number;
  message: string;
  headers?: Readonly<Record<string, string>>;
}

const UNMET_EXPECTATION: Fault = {
  statusCode: 417,
  message: 'The service does not support the header Expect with this value. Leave the header out.',
};

/** What Node.js tells of a request that it cannot read. */
export interface BrokenRequest {
  code?: string;
  /** The bytes that it was in, as a Buffer. */
  rawPacket?: unknown;
  bytesParsed?: number;
}

export interface FaultAnswers {
  /**
   * Answers expectations that nobody can meet (RFC 9110 section 10.1.1) and requests for a tunnel. Ends connections that
   * are quiet for `server.timeout`, but for those that wait for us.
   */
  attach(server: Server): void;
  /** Answers a request that is not HTTP, has too many headers, an unknown method, or never ends. */
  answerBroken(error: BrokenRequest, socket: Duplex): void;
}

export function createFaultAnswers(allowed: AllowedMethods): FaultAnswers {
  /** Answers that are still to be written on a connection, oldest first. */
  const unanswered = new WeakMap<Duplex, Set<ServerResponse>>();
  /** The answer to the last request of a connection. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  const broken = new WeakSet<Duplex>();
  return {
    attach(server) {
      server.prependListener('request', (request, response) => {
        const waiting = unanswered.get(request.socket) ?? new Set();
        unanswered.set(request.socket, waiting.add(response));
        latest.set(request.socket, response);
        response.once('close', () => waiting.delete(response));
      });
      server.on('checkExpectation', (request, response) => {
        request.unpipe();
        response.shouldKeepAlive = false;
        const { body, headers } = answerOf(UNMET_EXPECTATION);
        response.writeHead(417, headers).end(body);
      });
      server.on('connect', (_request, socket) => {
        // Node.js takes its own listeners off: without these, a reset ends the process, and a quiet connection stays.
        const end = () => socket.destroy();
        socket.on('error', end).on('timeout', end);
        whenAnswered(unanswered.get(socket), () => answerAndClose(socket, noProxy(allowed)));
      });
      server.on('timeout', (socket) => {
        if (!isOurTurn(unanswered.get(socket))) socket.destroy();
      });
    },
    answerBroken(error, socket) {
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy();
        return;
      }
      // Whatever follows a broken request is broken, too.
      if (broken.has(socket)) return;
      broken.add(socket);
      const cut = latest.get(socket);
      // This request was answered before its body broke off. A second answer would be taken for that of the next request.
      if (cut?.headersSent && !cut.req.complete) {
        if (cut.writableFinished) socket.end();
        else cut.once('close', () => socket.end());
        return;
      }
      const fault = faultOf(error, allowed);
      whenAnswered(unanswered.get(socket), () => answerAndClose(socket, fault));
    },
  };
}

/** The target of CONNECT is a whole server, so `allow` has what this one takes (RFC 9110 section 10.2.1). */
function noProxy(allowed: AllowedMethods): Fault {
  const message = 'This server is no proxy. Send the request itself.';
  return { statusCode: 405, message, headers: { allow: allowed.all() } };
}

/** Calls back once the good requests before a broken one are answered. One that the fault cuts off never is. */
function whenAnswered(responses: ReadonlySet<ServerResponse> | undefined, done: () => void): void {
  const last = [...(responses ?? [])].findLast(({ req }) => req.complete);
  if (last === undefined) done();
  else last.once('close', done);
}

/** Whether the caller sent all of a request and waits for its answer. One that does not read an answer is not waited for. */
function isOurTurn(responses: ReadonlySet<ServerResponse> | undefined): boolean {
  const [first] = responses ?? [];
  return first?.req.complete === true && !first.headersSent;
}

function faultOf(error: BrokenRequest, allowed: AllowedMethods): Fault {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        statusCode: 431,
        message: `The address and the headers together have more than ${MAX_HEADER_BYTES} bytes, or there are more than 1000 headers. Send fewer or shorter ones.`,
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        statusCode: 408,
        message: 'The request did not arrive completely in time. Send it again, faster or in smaller parts.',
      };
    case 'HPE_INVALID_URL':
      if (!stopsBeyondAscii(error)) break;
      return {
        statusCode: 400,
        message: 'The address has characters that are not ASCII. Percent-encode them as UTF-8.',
      };
    case 'HPE_INVALID_METHOD': {
      const target = targetOfUnknownMethod(error);
      if (target !== undefined) return allowed.refusal(target);
    }
  }
  return {
    statusCode: 400,
    message: 'The request is not valid HTTP. Check the client, and any proxy in between.',
  };
}

/** As where a program sends a name with accents as it was typed. */
function stopsBeyondAscii({ rawPacket, bytesParsed = 0 }: BrokenRequest): boolean {
  return Buffer.isBuffer(rawPacket) && (rawPacket[bytesParsed] ?? 0) > 0x7f;
}

const TOKEN_CHARACTER = /[\w!#$%&'*+.^`|~-]/;
const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+ ([\x21-\x7e]+) HTTP\/1\.[01]\r?\n/;

/** The target of a request line that is sound but for a method that the parser does not know. */
function targetOfUnknownMethod({ rawPacket, bytesParsed = 0 }: BrokenRequest): string | undefined {
  const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '';
  // The parser stops somewhere inside the method. Walked back once: before it may stand 64 KiB of what the caller likes.
  let start = bytesParsed;
  while (TOKEN_CHARACTER.test(text.charAt(start - 1))) start -= 1;
  return REQUEST_LINE.exec(text.slice(start))?.[1];
}

function answerAndClose(socket: Duplex, fault: Fault): void {
  if (!socket.writable) return;
  const { body, headers } = answerOf(fault);
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const { error } = errorBody(fault.statusCode, '');
  socket.on('error', () => undefined);
  socket.end(`HTTP/1.1 ${fault.statusCode} ${error}\r\n${lines.join('')}\r\n${body}`);
}

function answerOf({ statusCode, message, headers }: Fault): {
  body: string;
  headers: Record<string, string>;
} {
  const body = JSON.stringify(errorBody(statusCode, message));
  return {
    body,
    headers: {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-correlation-id': randomUUID(),
      'content-length': String(Buffer.byteLength(body)),
    },
  };
}
