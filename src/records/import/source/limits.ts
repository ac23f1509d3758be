/** Bounds that keep memory and disk bounded whatever is sent. */
export interface SourceLimits {
  /** Bytes of one source at most, after decompression. */
  maxSourceBytes: number;
  /** Bytes of one entry, line or single resource at most. */
  maxEntryBytes: number;
  /** Entries of one Bundle at most; lines of NDJSON that are held in mind at once (about 300 bytes each). */
  maxEntries: number;
  /** Decompressed bytes that are kept in memory; what is larger goes to a temporary file. */
  maxMemoryBytes: number;
}

const MIB = 1_048_576;

export const DEFAULT_LIMITS: SourceLimits = {
  maxSourceBytes: 4_096 * MIB,
  maxEntryBytes: 16 * MIB,
  maxEntries: 2_000_000,
  maxMemoryBytes: 32 * MIB,
};

/** `4294967296` → `4 GiB`, for messages. */
export function sizeText(bytes: number): string {
  if (bytes >= 1_024 * MIB) return `${Math.round((bytes / (1_024 * MIB)) * 10) / 10} GiB`;
  return bytes >= MIB ? `${Math.round(bytes / MIB)} MiB` : `${bytes} bytes`;
}
