/** UUIDs (RFC 9562): recognising them, and making them from bytes and back. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Of any version, in either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** 16 bytes as a UUID (RFC 9562 section 4). */
export function formatUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A UUID as 16 bytes. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** The first 16 bytes of a digest as a UUID of a version (RFC 9562 sections 4.1, 4.2). */
export function uuidOfDigest(digest: Uint8Array, version: 4 | 5): string {
  const bytes = Buffer.from(digest.subarray(0, 16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | (version << 4), 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatUuid(bytes);
}
