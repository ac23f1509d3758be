/**
 * The files that were chosen: each is checked first, one after the other, and imported when somebody says so. Contract: WEB-65.
 */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
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

type Uploads = readonly Upload[];

function changed(id: string, to: Partial<Upload>): (uploads: Uploads) => Uploads {
  return (uploads) => uploads.map((one) => (one.id === id ? { ...one, ...to } : one));
}

export function useUploads() {
  const [uploads, setUploads] = useState<Uploads>([]);
  const sending = useRef<{ id: string; abort: AbortController }>(undefined);
  const next = uploads.find(({ phase }) => phase === 'waiting');
  const isBusy = uploads.some(({ phase }) => phase === 'sending');

  useEffect(() => {
    if (next === undefined || isBusy) return;
    const { id, importId, file, action } = next;
    const abort = new AbortController();
    sending.current = { id, abort };
    setUploads(changed(id, { phase: 'sending', sentBytes: 0, error: undefined }));
    sendFile(file, {
      dryRun: action === 'check',
      importId,
      signal: abort.signal,
      onSent: (sentBytes) => setUploads(changed(id, { sentBytes })),
    })
      .then((report) =>
        setUploads(changed(id, { phase: action === 'check' ? 'checked' : 'imported', report })),
      )
      .catch((error: unknown) => setUploads(changed(id, { phase: 'failed', error })))
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
    add: (files: Iterable<File>) => {
      // At once: what was dropped is gone after the event.
      const added = Array.from(files, newUpload);
      setUploads((old) => [...old, ...added]);
    },
    /** Also once more, after it failed. */
    importNow: (id: string) =>
      setUploads(changed(id, { action: 'import', phase: 'waiting', importId: crypto.randomUUID() })),
    /** After the check failed. */
    checkAgain: (id: string) => setUploads(changed(id, { phase: 'waiting' })),
    remove: (id: string) => {
      if (sending.current?.id === id) sending.current.abort.abort();
      setUploads((old) => old.filter((one) => one.id !== id));
    },
  };
}

function newUpload(file: File): Upload {
  return {
    id: crypto.randomUUID(),
    importId: crypto.randomUUID(),
    file,
    action: 'check',
    phase: 'waiting',
    sentBytes: 0,
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
