/** The mapping that is edited in its row. Contract: WEB-31. */
import { useEffect, useRef, useState } from 'react';
import { type Draft, draftOf, type MapEntry, saveMapping } from '../draft.ts';
import { type MapCheck, useMapCheck } from '../editor/map-check.ts';

export interface MapEdit {
  /** The entry whose row has fields; undefined: none. */
  entryId: string | undefined;
  draft: Draft | undefined;
  check: MapCheck;
  error: unknown;
  isSaving: boolean;
  start: (entry: MapEntry) => void;
  change: (part: Partial<Draft>) => void;
  cancel: () => void;
  save: () => Promise<void>;
}

/** By which the fields of a row know their form, which stands outside of the table. */
export const EDIT_FORM = 'edit-mapping';

export function editButtonId(entryId: string): string {
  return `edit-${entryId}`;
}

export function useMapEdit(onSaved: (draft: Draft) => void): MapEdit {
  const [entry, setEntry] = useState<MapEntry>();
  const [draft, setDraft] = useState<Draft>();
  const [error, setError] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const check = useMapCheck(draft, entry?.facilityId === null ? 'organisation' : 'facility');
  useReturningFocus(entry?.id);

  function close() {
    setEntry(undefined);
    setDraft(undefined);
    setError(undefined);
  }
  return {
    entryId: entry?.id,
    draft,
    check,
    error,
    isSaving,
    start: (chosen) => {
      setEntry(chosen);
      setDraft(draftOf(chosen));
      setError(undefined);
    },
    change: (part) => setDraft((old) => (old === undefined ? old : { ...old, ...part })),
    cancel: close,
    save: async () => {
      if (entry === undefined || draft === undefined || isSaving) return;
      setSaving(true);
      try {
        await saveMapping(draft, entry.facilityId);
        onSaved(draft);
        close();
      } catch (caught) {
        setError(caught);
      } finally {
        setSaving(false);
      }
    },
  };
}

/** When the fields go, the keyboard is again at the button that brought them. */
function useReturningFocus(entryId: string | undefined): void {
  const last = useRef<string>(undefined);
  useEffect(() => {
    if (entryId === undefined && last.current !== undefined)
      document.getElementById(editButtonId(last.current))?.focus({ preventScroll: true });
    last.current = entryId;
  }, [entryId]);
}
