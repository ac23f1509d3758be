/**
 * Sends a file to the import. The browser reads it from the disk as it sends it, so that its size does not matter here;
 * `fetch` would not tell how far it is. Contract: WEB-47.
 */
import { toSourceName } from '../../../../src/records/import/history/source-name.ts';
import type { Answer } from '../../api/answer.ts';
import { tellOf } from '../../api/api.ts';
import { ApiError, arrived, unreachable } from '../../api/api-error.ts';
import { CONSOLE_HEADER, callHeaders } from '../../api/call-headers.ts';
import { apiBase } from '../../app/address.ts';

export type ImportReport = Answer<'/imports/fhir', 'post'>;

interface SendOptions {
  /** Checks and counts only. */
  dryRun: boolean;
  importId: string;
  onSent: (bytes: number) => void;
  signal: AbortSignal;
}

export function sendFile(
  file: File,
  { dryRun, importId, onSent, signal }: SendOptions,
): Promise<ImportReport> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `${apiBase}/imports/fhir?${queryOf(file, { dryRun, importId })}`);
    const headers = { ...CONSOLE_HEADER, ...callHeaders(), 'content-type': mediaTypeOf(file.name) };
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onSent(Math.min(loaded, file.size));
    request.onload = () => {
      tellOf('POST', request.status);
      if (request.status === 200) arrived(reportOf(request)).then(resolve, reject);
      else reject(refusalOf(request));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(unreachable());
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

/** Rejects for what is none, such as the page with which a network answers before it lets anybody out. */
async function reportOf({ responseText }: XMLHttpRequest): Promise<ImportReport> {
  return JSON.parse(responseText);
}

/** A check is not kept, so its name does not go along. */
function queryOf({ name }: File, { dryRun, importId }: Pick<SendOptions, 'dryRun' | 'importId'>): string {
  if (dryRun) return 'dryRun=true';
  const fileName = toSourceName(name);
  return new URLSearchParams({ importId, ...(fileName === undefined ? {} : { fileName }) }).toString();
}

function mediaTypeOf(name: string): string {
  if (/\.gz$/i.test(name)) return 'application/gzip';
  return /\.ndjson$/i.test(name) ? 'application/fhir+ndjson' : 'application/fhir+json';
}

function refusalOf(request: XMLHttpRequest): ApiError {
  const correlationId = request.getResponseHeader('x-correlation-id') ?? undefined;
  let message = '';
  try {
    message = String((JSON.parse(request.responseText) as { message?: unknown }).message ?? '');
  } catch {
    // A proxy on the way answers in its own words: its status says it.
  }
  return new ApiError(message, { status: request.status, correlationId });
}
