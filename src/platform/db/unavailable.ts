/** Tells an unreachable database from a fault in a statement. */

const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
]);
const MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/;

/** True for lost and refused connections, a server that starts or stops, and too many connections. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: string }).code ?? '';
  // SQLSTATE classes 08 (connection), 57P (server is going or coming), 53300 (too many connections), 25006 (standby).
  if (/^08|^57P|^53300$|^25006$/.test(code) || SYSTEM_CODES.has(code)) return true;
  return MESSAGES.test(error.message);
}
