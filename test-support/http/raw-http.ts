/** HTTP over a bare socket: bytes that no client would send, and answers as they came. */
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  /** Lower-case names; the last of several wins. */
  headers: Record<string, string>;
  body: Buffer;
}

export interface RawRequest {
  method: string;
  /** Sent as Latin-1: each character is one byte. */
  target: string;
  /** A list is sent as one line for each value. */
  headers: Record<string, string | readonly string[]>;
  body?: Uint8Array;
}

/** Longer than any answer takes; a call that takes as long has hung. */
export const HANG_MS = 20_000;

export function requestBytes({ method, target, headers, body }: RawRequest): Buffer {
  const fields = { host: 'localhost', connection: 'close', ...headers };
  const length =
    body === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': body.length };
  const lines = Object.entries({ ...fields, ...length }).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}\r\n`),
  );
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}

/** The one answer to one request. */
export async function sendRaw(port: number, request: RawRequest): Promise<RawAnswer> {
  const [answer, ...others] = await exchangeBytes(port, requestBytes(request));
  if (answer === undefined || others.length > 0)
    throw new Error(`${others.length + 1} answers to one request`);
  return answer;
}

/** Send bytes and read until the server closes. Rejects when it neither answers nor closes in time. */
export async function exchangeBytes(port: number, bytes: Uint8Array): Promise<RawAnswer[]> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const end = closed(socket);
  socket.write(bytes);
  await end;
  return parseAnswers(Buffer.concat(chunks));
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.setTimeout(HANG_MS, () => {
      socket.destroy();
      reject(new Error('the server neither answered nor closed'));
    });
    // A server that refuses a body may close while it is being sent: an error here, and then a close.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
}

/** Answers that follow one another, by their content-length or chunks; those to HEAD have neither body nor chunks. */
export function parseAnswers(bytes: Buffer, { withoutBody = false } = {}): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) throw new Error(`not an HTTP answer: ${rest.toString('latin1', 0, 200)}`);
    const [statusLine = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const { body, length } = withoutBody
      ? { body: Buffer.alloc(0), length: 0 }
      : takeBody(rest.subarray(end + 4), headers);
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, body });
    rest = rest.subarray(end + 4 + length);
  }
  return answers;
}

function takeBody(bytes: Buffer, headers: Record<string, string>): { body: Buffer; length: number } {
  if (headers['transfer-encoding'] !== 'chunked') {
    const length = Number(headers['content-length'] ?? 0);
    return { body: bytes.subarray(0, length), length };
  }
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (lineEnd === -1 || Number.isNaN(size)) throw new Error('broken chunks');
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
    if (size === 0) return { body: Buffer.concat(parts), length: at };
  }
}
