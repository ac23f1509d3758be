/** The mapping that is edited in its row. Contract: WEB-31. */
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { answered, api } from '../../../api/api.ts';
import { changedOf } from '../../../app/form-changes.ts';
import { type Draft, draftOf, type MapEntry, saveMapping } from '../draft.ts';
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

export function useMapEdit(onSaved: (draft: Draft) => void) {
  const [edited, setEdited] = useState<Edited>();
  const check = useMapCheck(edited?.draft, edited?.entry.facilityId === null ? 'organisation' : 'facility');
  const save = useMutation({
    mutationFn: saveChanges,
    onSuccess: (_, { draft }) => {
      onSaved(draft);
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

/** The rest stays as it is stored now: somebody else may have changed it since the row was read. */
async function saveChanges({ entry, draft }: Edited): Promise<void> {
  const { localSystem, localCode, targetSystem, facilityId } = entry;
  const level = facilityId === null ? 'organisation' : 'facility';
  const query = { localSystem, localCode, targetSystem, level } as const;
  const { items } = await answered(api.GET('/terminology/maps', { params: { query } }));
  const now = draftOf(items[0] ?? entry);
  await saveMapping({ ...now, ...changedOf(draftOf(entry), draft) }, facilityId);
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
