/**
 * One request over real HTTP, sent and read as `fetch` does it without following a redirect, for half of its processor
 * time: tests send tens of thousands (docs/adr/0119).
 */
import { Agent, type IncomingMessage, request } from 'node:http';

export interface SentRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array | undefined;
}

export interface TextAnswer {
  status: number;
  headers: Headers;
  text: string;
}

const AGENT = new Agent({ keepAlive: true });
/** What `fetch` adds. */
const USUAL = { accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' };

export function sendRequest({ url, method, headers, body }: SentRequest): Promise<TextAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(url), { agent: AGENT, method, headers: USUAL }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = new TextDecoder().decode(Buffer.concat(chunks));
        resolve({ status: answer.statusCode ?? 0, headers: headersOf(answer), text });
      });
    });
    sent.on('error', reject);
    if (typeof body === 'string') sent.setHeader('content-type', 'text/plain;charset=UTF-8');
    if (body !== undefined) sent.setHeader('content-length', Buffer.byteLength(body));
    for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value.trim());
    sent.end(body);
  });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}
