/** Names what a source is that begins like no JSON in UTF-8, and says what to do with it. Contract: IN-31. */

const UTF_16 = 'is UTF-16 or UTF-32. Convert it to UTF-8';
const COMPRESSED = 'is compressed in another way than gzip. Unpack it first';

/** By the first bytes, in hexadecimal. */
const OTHER_FORMATS: readonly [beginning: string, reason: string][] = [
  ['fffe', UTF_16],
  ['feff', UTF_16],
  ['0000feff', UTF_16],
  // `{` and `[` without a byte order mark.
  ['7b00', UTF_16],
  ['007b', UTF_16],
  ['5b00', UTF_16],
  ['005b', UTF_16],
  ['1f8b', 'is gzip within gzip. Unpack it once'],
  ['4d53487c', 'is HL7 v2. Send FHIR as JSON'],
  ['504b', 'is a ZIP archive. Unpack it, and import the files in it'],
  ['425a68', COMPRESSED],
  ['28b52ffd', COMPRESSED],
  ['fd377a585a', COMPRESSED],
  ['377abcaf271c', COMPRESSED],
];

/** What stands in the header of the first file of a tar archive. JSON has no NUL. */
const TAR = { at: 256, mark: '\0ustar' };

/** As many bytes as {@link otherFormat} looks at. */
export const FORMAT_BYTES = TAR.at + TAR.mark.length;

/** Undefined for what may be JSON in UTF-8. */
export function otherFormat(head: Buffer): string | undefined {
  if (head.toString('latin1', TAR.at, FORMAT_BYTES) === TAR.mark)
    return 'is a tar archive. Unpack it, and import the files in it';
  const bytes = head.toString('hex');
  return OTHER_FORMATS.find(([beginning]) => bytes.startsWith(beginning))?.[1];
}

export const NEITHER_JSON_NOR_GZIP =
  'is neither JSON nor gzip with JSON in it. Send FHIR as JSON in UTF-8, as it is or compressed with gzip';

/** What may be JSON in a wrong encoding is not. The last character may go on after `head`. */
export function isBinary(head: Buffer): boolean {
  if (/^\s*[[{]/.test(head.toString('latin1'))) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return false;
  } catch {
    return true;
  }
}
