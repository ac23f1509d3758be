/**
 * The files that were chosen: each is checked first, one after the other, and imported when somebody says so. Contract: WEB-65.
 */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useReducer, useRef } from 'react';
import { queries } from '../../app/queries.ts';
import { readRunning } from './import-data.ts';
import { type ImportReport, sendFile } from './send-file.ts';

export interface Upload {
  id: string;
  file: File;
  /** Of the import, which the console chooses, so that it can be watched. */
  importId: string;
  action: 'check' | 'import';
  phase: 'waiting' | 'sending' | 'checked' | 'imported' | 'failed';
  sentBytes: number;
  report?: ImportReport;
  error?: unknown;
}

type Change =
  | { kind: 'add'; uploads: readonly Upload[] }
  | { kind: 'set'; id: string; to: Partial<Upload> }
  | { kind: 'remove'; id: string };

function reduce(uploads: readonly Upload[], change: Change): readonly Upload[] {
  if (change.kind === 'add') return [...uploads, ...change.uploads];
  if (change.kind === 'remove') return uploads.filter(({ id }) => id !== change.id);
  return uploads.map((one) => (one.id === change.id ? { ...one, ...change.to } : one));
}

export function useUploads() {
  const [uploads, change] = useReducer(reduce, []);
  const sending = useRef<{ id: string; abort: AbortController }>(undefined);
  const next = uploads.find(({ phase }) => phase === 'waiting');
  const isBusy = uploads.some(({ phase }) => phase === 'sending');

  useEffect(() => {
    if (next === undefined || isBusy) return;
    const { id, importId, file, action } = next;
    const abort = new AbortController();
    sending.current = { id, abort };
    change({ kind: 'set', id, to: { phase: 'sending', sentBytes: 0, error: undefined } });
    sendFile(file, {
      dryRun: action === 'check',
      importId,
      signal: abort.signal,
      onSent: (sentBytes) => change({ kind: 'set', id, to: { sentBytes } }),
    })
      .then((report) =>
        change({ kind: 'set', id, to: { phase: action === 'check' ? 'checked' : 'imported', report } }),
      )
      .catch((error: unknown) => change({ kind: 'set', id, to: { phase: 'failed', error } }))
      .finally(() => {
        if (action === 'import') void queries.invalidateQueries({ queryKey: ['imports'] });
      });
  }, [next, isBusy]);

  // Who leaves the page stops what is being sent.
  useEffect(() => () => sending.current?.abort.abort(), []);
  useWarningBeforeLeaving(isBusy);
  // The session lasts as long as a file is sent, or the file would be cut off.
  useQuery({ ...readRunning, enabled: isBusy });

  return {
    uploads,
    add: (files: Iterable<File>) =>
      change({
        kind: 'add',
        uploads: [...files].map((file) => ({
          id: crypto.randomUUID(),
          importId: crypto.randomUUID(),
          file,
          action: 'check',
          phase: 'waiting',
          sentBytes: 0,
        })),
      }),
    /** Also once more, after it failed. */
    importNow: (id: string) =>
      change({ kind: 'set', id, to: { action: 'import', phase: 'waiting', importId: crypto.randomUUID() } }),
    /** After the check failed. */
    checkAgain: (id: string) => change({ kind: 'set', id, to: { phase: 'waiting' } }),
    remove: (id: string) => {
      if (sending.current?.id === id) sending.current.abort.abort();
      change({ kind: 'remove', id });
    },
  };
}

function useWarningBeforeLeaving(isBusy: boolean): void {
  useEffect(() => {
    if (!isBusy) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isBusy]);
}
