/** The mapping that is edited in its row. Contract: WEB-31. */
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { answered, api } from '../../../api/api.ts';
import { asChange } from '../../../app/queries.ts';
import { changedOf } from '../../../blocks/page/form-changes.ts';
import { type Draft, draftOf, type MapEntry, mapsChanged, saveMapping } from '../draft.ts';
import { useMapCheck } from '../editor/map-check.ts';

/** By which the fields of a row know their form, which stands outside of the table. */
export const EDIT_FORM = 'edit-mapping';

export function editButtonId(entryId: string): string {
  return `edit-${entryId}`;
}

interface Edited {
  entry: MapEntry;
  draft: Draft;
}

export type MapEdit = ReturnType<typeof useMapEdit>;

interface MapEditOptions {
  onSaved: (draft: Draft) => void;
  /** Somebody else changed the code, or deleted the entry: nothing was saved. */
  onOvertaken: (draft: Draft) => void;
}

export function useMapEdit({ onSaved, onOvertaken }: MapEditOptions) {
  const [edited, setEdited] = useState<Edited>();
  const check = useMapCheck(edited?.draft, edited?.entry.facilityId === null ? 'organisation' : 'facility');
  const save = useMutation({
    mutationFn: (changed: Edited) => asChange(saveChanges(changed)),
    onSuccess: (isSaved, { draft }) => {
      (isSaved ? onSaved : onOvertaken)(draft);
      edit(undefined);
    },
  });
  useReturningFocus(edited?.entry.id);

  function edit(entry: MapEntry | undefined) {
    setEdited(entry && { entry, draft: draftOf(entry) });
    save.reset();
  }
  return {
    /** The entry whose row has fields; undefined: none. */
    entryId: edited?.entry.id,
    draft: edited?.draft,
    isChanged: edited !== undefined && Object.keys(changedOf(draftOf(edited.entry), edited.draft)).length > 0,
    check,
    error: save.error,
    isSaving: save.isPending,
    start: (entry: MapEntry) => edit(entry),
    change: (part: Partial<Draft>) => setEdited((old) => old && { ...old, draft: { ...old.draft, ...part } }),
    cancel: () => edit(undefined),
    save: () => {
      if (edited !== undefined && !save.isPending) save.mutate(edited);
    },
  };
}

/**
 * The rest stays as it is stored now: somebody else may have changed it since the row was read. False where that is the
 * code: its text and its relation to the local code do not fit another.
 */
async function saveChanges({ entry, draft }: Edited): Promise<boolean> {
  const { localSystem, localCode, targetSystem, facilityId } = entry;
  const level = facilityId === null ? 'organisation' : 'facility';
  const query = { localSystem, localCode, targetSystem, level } as const;
  const { items } = await answered(api.GET('/terminology/maps', { params: { query } }));
  const [stored] = items;
  if (stored?.targetCode !== entry.targetCode) {
    await mapsChanged();
    return false;
  }
  await saveMapping({ ...draftOf(stored), ...changedOf(draftOf(entry), draft) }, facilityId);
  return true;
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
