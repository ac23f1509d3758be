/** A file or body that cannot be read as FHIR JSON at all. `message` is a reason for people, without content. */
export class SourceError extends Error {
  override name = 'SourceError';
  /** Number of the entry or line at which reading failed, from 1; undefined outside of them. */
  readonly entry: number | undefined;

  constructor(message: string, options?: { cause?: unknown; entry?: number }) {
    super(message, { cause: options?.cause });
    this.entry = options?.entry;
  }
}

/** Of a file or body that breaks off. Of lines, those before the fault are taken. */
export const NOTHING_TAKEN = 'Nothing of it was taken';

/** There is no room for the temporary file that a source needs; there may be later. */
export class NoSpaceError extends SourceError {
  override name = 'NoSpaceError';

  constructor(options?: { cause?: unknown }) {
    super(
      'needs more disk space for a temporary file than there is. Make room, or set TMPDIR to another folder, and import it again',
      options,
    );
  }
}
