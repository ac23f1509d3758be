/** What an import takes of memory, disk and time at most, whatever is sent. Contract: IN-4, IN-28. */
export interface SourceLimits {
  /** Bytes of one source at most, after decompression. */
  maxSourceBytes: number;
  /** How many times its own size a gzip source may unpack to, looked at past `ratioFromBytes` unpacked bytes. */
  maxRatio: number;
  ratioFromBytes: number;
  /** Bytes of one entry, line or single resource at most. */
  maxEntryBytes: number;
  /** Entries of one Bundle at most. */
  maxEntries: number;
  /** Lines of NDJSON that are held in memory at once, about 300 bytes each; the next come when they are done with. */
  linesAtOnce: number;
  /** Lines of NDJSON at most, blank ones too. */
  maxLines: number;
  /** Memory, roughly, for what is held in mind about the entries of one Bundle: their ids, addresses, identifiers. */
  maxIndexBytes: number;
  /** Lines that are no FHIR after which the rest of a source is not read. */
  maxFaults: number;
  /** Decompressed bytes that are kept in memory; what is larger goes to a temporary file. */
  maxMemoryBytes: number;
  /** Shared by everyone whose sources in memory count together: past it, sources go to files before they are large. */
  memory?: ByteBudget;
  /** Shared by everyone whose temporary files count together; without it, only the disk itself bounds them. */
  disk?: ByteBudget;
}

/**
 * Bodies that are imported at the same time in one process, one for each organisation: each holds a connection. One that is
 * still on its way has no place.
 */
export const CONCURRENT_BODIES = 4;

const MIB = 1_048_576;

/** Levels of objects and lists in each other at most, in one entry, line or single resource. */
export const MAX_JSON_LEVELS = 1_000;

/** Values of one resource at most. They are parsed and mapped in one go, and everybody else waits meanwhile. */
export const MAX_JSON_VALUES = 250_000;

/** Of one source by command. */
export const DEFAULT_LIMITS: SourceLimits = {
  maxSourceBytes: 4_096 * MIB,
  maxRatio: Number.POSITIVE_INFINITY,
  ratioFromBytes: 0,
  maxEntryBytes: 16 * MIB,
  maxEntries: 2_000_000,
  linesAtOnce: 100_000,
  maxLines: Number.POSITIVE_INFINITY,
  maxIndexBytes: 1_024 * MIB,
  maxFaults: 1_000,
  maxMemoryBytes: 32 * MIB,
};

/** Of one import by command, whose files the operator has chosen: `atOnce` of them at a time share the memory of one. */
export function fileLimits(atOnce = 1): SourceLimits {
  return {
    ...DEFAULT_LIMITS,
    linesAtOnce: Math.ceil(DEFAULT_LIMITS.linesAtOnce / atOnce),
    memory: new ByteBudget(DEFAULT_LIMITS.maxMemoryBytes),
  };
}

/** Times the limit of a body that it may unpack to. */
const UNPACKED = 8;

/** Memory for all bodies together, in times of the largest source in memory: any number may be on their way. */
const MEMORY_TIMES = 4;

/** Disk for all temporary files together, and for those of one organisation, in times of the largest source. */
const DISK_TIMES = 4;
const DISK_TIMES_OF_ONE = 2;

/** Of bodies, up to `maxBodyBytes` as sent: the process answers others meanwhile, and runs several imports. */
export function bodyLimits(maxBodyBytes: number): SourceLimits {
  const maxSourceBytes = Math.min(DEFAULT_LIMITS.maxSourceBytes, UNPACKED * maxBodyBytes);
  return {
    ...DEFAULT_LIMITS,
    maxSourceBytes,
    maxRatio: 200,
    ratioFromBytes: 16 * MIB,
    maxEntries: 250_000,
    maxLines: 2_000_000,
    maxIndexBytes: 128 * MIB,
    memory: new ByteBudget(MEMORY_TIMES * DEFAULT_LIMITS.maxMemoryBytes),
    disk: new ByteBudget(DISK_TIMES * maxSourceBytes),
  };
}

/**
 * The limits of each organisation: the temporary files of one, however long their uploads take, leave room for those
 * of others.
 */
export function limitsByOrganisation(limits: SourceLimits): (organisationId: string) => SourceLimits {
  const disks = new Map<string, ByteBudget>();
  return (organisationId) => {
    const disk =
      disks.get(organisationId) ?? new ByteBudget(DISK_TIMES_OF_ONE * limits.maxSourceBytes, limits.disk);
    disks.set(organisationId, disk);
    return { ...limits, disk };
  };
}

/** Counts bytes against a bound. */
export class ByteBudget {
  #leftBytes: number;
  readonly #whole: ByteBudget | undefined;

  /** `whole`: what this is a part of. */
  constructor(maxBytes: number, whole?: ByteBudget) {
    this.#leftBytes = maxBytes;
    this.#whole = whole;
  }

  /** False when there is not so much left; nothing is taken then. */
  take(bytes: number): boolean {
    if (bytes > this.#leftBytes || this.#whole?.take(bytes) === false) return false;
    this.#leftBytes -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#leftBytes += bytes;
    this.#whole?.giveBack(bytes);
  }
}

/** `4294967296` → `4 GiB`, for messages. */
export function sizeText(bytes: number): string {
  if (bytes >= 1_024 * MIB) return `${Math.round((bytes / (1_024 * MIB)) * 10) / 10} GiB`;
  return bytes >= MIB ? `${Math.round(bytes / MIB)} MiB` : `${bytes} bytes`;
}
