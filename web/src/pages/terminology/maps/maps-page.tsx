/** Which standard code each local code is sent as: found, edited in the row, added, deleted, exported. Contract: WEB-31, WEB-76. */
import { Button } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../../api/api.ts';
import { useTyped } from '../../../app/unsaved-forms.ts';
import { ExportMenu } from '../../../blocks/copies/export-menu.tsx';
import { useCommands } from '../../../blocks/dialogs/commands.ts';
import { ConfirmDialog } from '../../../blocks/dialogs/confirm-dialog.tsx';
import { UnsavedChanges } from '../../../blocks/dialogs/unsaved-changes.tsx';
import { useListOf } from '../../../blocks/list/cursor-list.ts';
import { ListPage } from '../../../blocks/list/list-page.tsx';
import { announce } from '../../../blocks/page/announcements.tsx';
import { PageHeader } from '../../../blocks/page/page-header.tsx';
import { EmptyState } from '../../../blocks/states/empty-state.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { type Draft, type MapEntry, mapsChanged, SYSTEMS } from '../draft.ts';
import { MapDialog } from '../editor/map-dialog.tsx';
import { useLevels } from '../level.ts';
import { TerminologyTabs } from '../terminology-tabs.tsx';
import { useMapColumns } from './map-columns.tsx';
import { EDIT_FORM, useMapEdit } from './map-edit.ts';

const route = getRouteApi('/shell/terminology/maps');

export function MapsPage() {
  const t = useTranslations('terminologyMaps');
  const { may } = useSession();
  const [isAdding, setAdding] = useState(false);
  const [deleted, setDeleted] = useState<MapEntry>();
  const onSaved = ({ localCode }: Draft) => announce({ kind: 'good', text: t('saved', { code: localCode }) });
  const edit = useMapEdit({
    onSaved,
    onOvertaken: ({ localCode }) => announce({ kind: 'bad', text: t('overtaken', { code: localCode }) }),
  });
  useTyped(edit.isChanged);
  const mayChange = may('terminology.maps.manage');
  useCommands(mayChange ? [{ id: 'add-mapping', label: t('add'), run: () => setAdding(true) }] : []);
  return (
    <>
      <PageHeader
        title={t('title')}
        text={t('text')}
        actions={
          <>
            <ExportMaps />
            {mayChange ? <Button onClick={() => setAdding(true)}>{t('add')}</Button> : undefined}
          </>
        }
      />
      <TerminologyTabs />
      <form
        id={EDIT_FORM}
        onSubmit={(event) => {
          event.preventDefault();
          edit.save();
        }}
      />
      <UnsavedChanges areThere={edit.isChanged} />
      <MapList columns={useMapColumns(edit, setDeleted)} />
      <MapDialog
        opened={isAdding}
        onSaved={(draft) => {
          setAdding(false);
          onSaved(draft);
        }}
        onClose={() => setAdding(false)}
      />
      <DeleteDialog entry={deleted} onClose={() => setDeleted(undefined)} />
    </>
  );
}

function MapList({ columns }: { columns: ReturnType<typeof useMapColumns> }) {
  const t = useTranslations('terminologyMaps');
  const ofAll = useTranslations('terminology');
  const search = route.useSearch();
  const { facility, may } = useSession();
  const list = useListOf(['terminology', 'maps', facility?.id], '/terminology/maps', search);
  return (
    <ListPage
      label={t('title')}
      list={list}
      columns={columns}
      rowId={({ id }) => id}
      filters={[
        { name: 'search', label: t('search'), kind: 'text' },
        { name: 'targetSystem', label: t('system'), choices: SYSTEMS },
        { name: 'level', label: ofAll('level'), choices: useLevels() },
      ]}
      empty={
        <EmptyState title={t('empty')} text={t('emptyText')}>
          <Link to="/terminology">{t('toUnmapped')}</Link>
          {may('terminology.maps.manage') ? (
            <Link to="/terminology/import">{ofAll('toImport')}</Link>
          ) : undefined}
        </EmptyState>
      }
    />
  );
}

function DeleteDialog({ entry, onClose }: { entry: MapEntry | undefined; onClose: () => void }) {
  const t = useTranslations('terminologyMaps');
  const code = entry?.localCode ?? '';
  async function remove() {
    if (entry === undefined) return;
    const { localSystem, localCode, targetSystem, facilityId } = entry;
    const level = facilityId === null ? 'organisation' : 'facility';
    await answered(
      api.DELETE('/terminology/maps', {
        params: { query: { localSystem, localCode, targetSystem, level } },
      }),
    );
    await mapsChanged();
    announce({ kind: 'good', text: t('deleted', { code: localCode }) });
  }
  return (
    <ConfirmDialog
      opened={entry !== undefined}
      title={t('deleteTitle', { code })}
      text={t('deleteText', { code, target: entry?.targetCode ?? t('none') })}
      action={t('delete')}
      isDangerous
      onConfirm={remove}
      onClose={onClose}
    />
  );
}

const FORMATS = [
  { level: 'organisation', format: 'csv', words: 'exportOrganisationCsv' },
  { level: 'organisation', format: 'conceptmap', words: 'exportOrganisationConceptMap' },
  { level: 'facility', format: 'csv', words: 'exportFacilityCsv' },
  { level: 'facility', format: 'conceptmap', words: 'exportFacilityConceptMap' },
] as const;

/** The maps as a file. Contract: WEB-32. */
function ExportMaps() {
  const t = useTranslations('terminologyMaps');
  const { facility } = useSession();
  const forms = FORMATS.map(({ level, format, words }) => ({
    id: `export-${level}-${format}`,
    label: t(words, { facility: facility?.name ?? '' }),
    path: `/terminology/maps/export?level=${level}&format=${format}`,
    fileName: `maps-${level}.${format === 'csv' ? 'csv' : 'json'}`,
  }));
  return <ExportMenu label={t('export')} forms={forms} failed={(why) => t('exportFailed', { why })} />;
}
