/** The columns of the maps; the row that is edited has fields. */
import { ActionIcon, Button, Group, Stack } from '@mantine/core';
import { Pencil, Trash2 } from 'lucide-react';
import { useTranslations } from 'use-intl';
import type { Column } from '../../../blocks/list/record-table.tsx';
import { SendButton } from '../../../blocks/page/send-button.tsx';
import { CallFault } from '../../../blocks/states/fault.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { Coded } from '../coded.tsx';
import { isSent, type MapEntry, systemName } from '../draft.ts';
import { RelationFields, TargetFields } from '../editor/target-fields.tsx';
import { useLevels } from '../level.ts';
import css from './map-columns.module.css';
import { EDIT_FORM, editButtonId, type MapEdit } from './map-edit.ts';

export function useMapColumns(edit: MapEdit, onDelete: (entry: MapEntry) => void): Column<MapEntry>[] {
  const t = useTranslations('terminology');
  const ofMaps = useTranslations('terminologyMaps');
  const levels = useLevels();
  const { may } = useSession();
  const columns: Column<MapEntry>[] = [
    {
      heading: t('code'),
      cell: ({ localCode, localDisplay, localSystem }) => (
        <Coded code={localCode} display={localDisplay} system={localSystem} />
      ),
    },
    {
      heading: t('standard'),
      share: 1.5,
      cell: (entry) =>
        edit.entryId === entry.id ? <EditedTarget edit={edit} /> : <StandardCode entry={entry} />,
    },
    {
      heading: t('relation'),
      share: 0.85,
      cell: (entry) =>
        edit.entryId === entry.id ? <EditedRelation edit={edit} /> : <Relation entry={entry} />,
    },
    {
      heading: t('level'),
      width: '10.5rem',
      cell: ({ facilityId }) => levels[facilityId === null ? 0 : 1]?.label,
    },
  ];
  if (!may('terminology.maps.manage')) return columns;
  const actions = {
    heading: ofMaps('actions'),
    width: '9rem',
    cell: (entry: MapEntry) => <Actions entry={entry} edit={edit} onDelete={onDelete} />,
  };
  return [...columns, actions];
}

function StandardCode({ entry: { targetCode, targetDisplay, targetSystem } }: { entry: MapEntry }) {
  const t = useTranslations('terminologyMaps');
  if (targetCode !== null) return <Coded code={targetCode} display={targetDisplay} system={targetSystem} />;
  return (
    <span className={css.quiet}>
      {t('none')}, {systemName(targetSystem)}
    </span>
  );
}

function Relation({ entry: { equivalence, comment } }: { entry: MapEntry }) {
  const t = useTranslations();
  return (
    <span>
      {t(`mapEditor.equivalences.${equivalence}`)}
      {isSent(equivalence) || equivalence === 'unmatched' ? undefined : (
        <span className={css.note}>{t('terminologyMaps.notSent')}</span>
      )}
      {comment === null ? undefined : <span className={css.note}>{comment}</span>}
    </span>
  );
}

function EditedTarget({ edit }: { edit: MapEdit }) {
  if (edit.draft === undefined) return undefined;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the fields inside have the focus; this only hears Escape.
    <div onKeyDown={({ key }) => key === 'Escape' && edit.cancel()}>
      <TargetFields draft={edit.draft} onChange={edit.change} rowForm={EDIT_FORM} check={edit.check} focus />
      <CallFault error={edit.error} />
    </div>
  );
}

function EditedRelation({ edit }: { edit: MapEdit }) {
  if (edit.draft === undefined) return undefined;
  return <RelationFields draft={edit.draft} onChange={edit.change} rowForm={EDIT_FORM} />;
}

interface ActionsProperties {
  entry: MapEntry;
  edit: MapEdit;
  onDelete: (entry: MapEntry) => void;
}

function Actions({ entry, edit, onDelete }: ActionsProperties) {
  const t = useTranslations('terminologyMaps');
  const cancel = useTranslations('blocks')('cancel');
  if (edit.entryId === entry.id)
    return (
      <Stack gap="xs">
        <SendButton size="xs" type="submit" form={EDIT_FORM} isSending={edit.isSaving}>
          {t('save')}
        </SendButton>
        <Button size="xs" variant="default" onClick={edit.cancel}>
          {cancel}
        </Button>
      </Stack>
    );
  return (
    <Group gap="xs" wrap="nowrap">
      <ActionIcon
        id={editButtonId(entry.id)}
        variant="subtle"
        color="gray"
        aria-label={t('editNamed', { code: entry.localCode })}
        title={t('edit')}
        onClick={() => edit.start(entry)}
      >
        <Pencil size={15} aria-hidden="true" />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('deleteNamed', { code: entry.localCode })}
        title={t('delete')}
        onClick={() => onDelete(entry)}
      >
        <Trash2 size={15} aria-hidden="true" />
      </ActionIcon>
    </Group>
  );
}
