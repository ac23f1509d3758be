/** What the simulator knows of its connection, from a file that it reads again when a signature is refused. */
import { readFile } from 'node:fs/promises';
import { toolError } from '../errors.ts';

export interface Credentials {
  /** Outbound secrets, newest first: what requests are signed with. */
  secrets: readonly string[];
  callback: { url: string; secret: string };
}

export interface ConnectionFile {
  readonly credentials: Credentials;
  /** Read the file again; true when it holds another secret than before. The old outbound ones stay good. */
  renew(): Promise<boolean>;
}

interface Content {
  outboundSecret: string;
  callbackSecret: string;
  callbackUrl: string;
}

/**
 * `text` is what `connection create --json` printed. Whatever `connection rotate-secret --json` prints may take its
 * place in the file later: what is not in it stays as it was. Without a path nothing is read again.
 * Throws `bad_connection_file`.
 */
export function openConnectionFile(text: string, path: string | undefined): ConnectionFile {
  const first = parse(text);
  const { outboundSecret, callbackSecret, callbackUrl } = first;
  if (!outboundSecret || !callbackSecret || !callbackUrl || !URL.canParse(callbackUrl))
    throw toolError('bad_connection_file');
  let credentials: Credentials = {
    secrets: [outboundSecret],
    callback: { url: callbackUrl, secret: callbackSecret },
  };
  return {
    get credentials() {
      return credentials;
    },
    async renew() {
      const now = path === undefined ? {} : parse(await readFile(path, 'utf8').catch(() => ''));
      const { secrets, callback } = credentials;
      const outbound = now.outboundSecret ?? secrets[0] ?? '';
      const renewed = { url: callback.url, secret: now.callbackSecret ?? callback.secret };
      const changed = !secrets.includes(outbound) || renewed.secret !== callback.secret;
      if (changed) credentials = { secrets: [...new Set([outbound, ...secrets])], callback: renewed };
      return changed;
    },
  };
}

/** The settings in a JSON text; none when it is not JSON. */
function parse(text: string): Partial<Content> {
  try {
    const document = JSON.parse(text) as Partial<Content> | null;
    return document ?? {};
  } catch {
    return {};
  }
}
