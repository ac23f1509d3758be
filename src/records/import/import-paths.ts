/** Imports files, folders and standard input: what the command and the demo do. */
import type { Readable } from 'node:stream';
import { type ImportDependencies, type ImportRequest, importRecords } from './import-records.ts';
import type { ImportDocument, Rejection } from './import-report.ts';
import type { ImportSource } from './run/import-sources.ts';
import { ImportStopped, unlessStopped } from './run/stop-import.ts';
import { type FoundFiles, findFiles } from './source/find-sources.ts';
import { fileLimits } from './source/limits.ts';
import { openFile, openStream } from './source/open-source.ts';
import { SourceError } from './source/source-error.ts';
import type { Spool } from './source/spool.ts';

export interface ImportPathsRequest extends Omit<ImportRequest, 'sources'> {
  /** Files, folders, or `-` for standard input. */
  paths: readonly string[];
  stdin?: Readable;
  /** Called before the import begins, with the size and the number of sources. Standard input and pipes were read by then. */
  onFound?: (totalBytes: number, files: number) => void;
}

export interface ImportPathsDocument extends ImportDocument {
  /** Files in folders that are neither JSON nor gzip, and were passed over. A folder of such only is rejected. */
  otherFiles: number;
}

/** Import everything; paths that lead nowhere are among the rejected. */
export async function importPaths(
  deps: ImportDependencies,
  request: ImportPathsRequest,
): Promise<ImportPathsDocument> {
  return importFound(deps, request, await findFiles(request.paths));
}

/** Import what was found under the paths. */
export async function importFound(
  deps: ImportDependencies,
  { paths, stdin, onFound, ...request }: ImportPathsRequest,
  { files, missing, otherFiles }: FoundFiles,
): Promise<ImportPathsDocument> {
  const given = files.length + (paths.includes('-') ? 1 : 0);
  const atOnce = Math.min(request.workers ?? 1, Math.max(1, given));
  const limits = deps.limits ?? fileLimits(atOnce);
  /** What can be read only once, by name: an import may open a source again. */
  const spools = new Map<string, Spool>();
  const readOnce = async (name: string, opened: Promise<Spool>): Promise<void> => {
    try {
      spools.set(name, await unlessStopped(request.stop, opened));
    } catch (error) {
      if (error instanceof ImportStopped) return;
      if (!(error instanceof SourceError)) throw error;
      missing.push({ path: name, reason: error.message });
    }
  };
  try {
    if (stdin !== undefined && paths.includes('-')) await readOnce('-', openStream(stdin, limits));
    const pipes = files.filter(({ isPipe }) => isPipe).map(({ path }) => path);
    for (const path of new Set(pipes)) await readOnce(path, openFile(path, limits));
    const whole = files.filter(({ path, isPipe }) => !isPipe || spools.has(path));
    const input = spools.get('-');
    const sources = [
      ...(input === undefined ? [] : [spoolSource('-', input)]),
      ...whole.map(({ path, sizeBytes }): ImportSource => {
        const spool = spools.get(path);
        return spool === undefined
          ? { name: path, sizeBytes, open: () => openFile(path, limits) }
          : spoolSource(path, spool);
      }),
    ];
    onFound?.(
      sources.reduce((total, { sizeBytes }) => total + sizeBytes, 0),
      sources.length,
    );
    const { document } = await importRecords({ ...deps, limits }, { ...request, sources });
    const notFound = missing.map(({ path, reason }): Rejection => ({ file: path, entry: null, reason }));
    const rejected = [...notFound, ...document.rejected];
    return { ...document, rejected, rejectedCount: document.rejectedCount + missing.length, otherFiles };
  } finally {
    for (const spool of spools.values()) await spool.close();
  }
}

/** A source that is spooled already and stays open until its owner closes it. */
export function spoolSource(name: string, spool: Spool): ImportSource {
  return { name, sizeBytes: spool.sizeBytes, open: async () => ({ ...spool, close: async () => undefined }) };
}
