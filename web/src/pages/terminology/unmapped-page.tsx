/** The work list: local codes without a standard code that an import or a fetch met, most frequent first. Contract: WEB-30. */
import { Button } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { numberColumn, timeColumn } from '../../blocks/list/columns.tsx';
import { useListOf } from '../../blocks/list/cursor-list.ts';
import { choicesOf } from '../../blocks/list/filter-bar.tsx';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { Coded } from './coded.tsx';
import type { Draft } from './draft.ts';
import { MapDialog } from './editor/map-dialog.tsx';
import type { UnmappedCode } from './editor/waiting-code.tsx';
import { TerminologyTabs } from './terminology-tabs.tsx';

const route = getRouteApi('/shell/terminology');

/** Where a local code was met. */
const PLACES = [
  'lab.order',
  'lab.result',
  'lab.report',
  'imaging.order',
  'imaging.report',
  'vitals.sign',
  'encounter.participation',
] as const;
type Place = (typeof PLACES)[number];

export function UnmappedPage() {
  const t = useTranslations('terminology');
  const search = route.useSearch();
  const { facility, may } = useSession();
  const [waiting, setWaiting] = useState<UnmappedCode>();
  const [isOpen, setOpen] = useState(false);
  const list = useListOf(['terminology', 'unmapped', facility?.id], '/terminology/unmapped', {
    place: search.place,
  });
  function onSaved({ localCode, targetCode, equivalence }: Draft) {
    setOpen(false);
    const text =
      equivalence === 'unmatched'
        ? t('markedUnmatched', { code: localCode })
        : t('mapped', { code: localCode, target: targetCode });
    announce({ kind: 'good', text });
  }
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} />
      <TerminologyTabs />
      <ListPage
        label={t('unmapped')}
        list={list}
        columns={useColumns((row) => {
          setWaiting(row);
          setOpen(true);
        })}
        rowId={({ localSystem, localCode }) => `${localSystem} ${localCode}`}
        filters={[
          { name: 'place', label: t('places'), choices: choicesOf(PLACES, (place) => t(`place.${place}`)) },
        ]}
        empty={
          <EmptyState title={t('unmappedEmpty')} text={t('unmappedEmptyText')}>
            <Link to="/terminology/maps">{t('toMaps')}</Link>
            {may('terminology.maps.manage') ? (
              <Link to="/terminology/import">{t('toImport')}</Link>
            ) : undefined}
          </EmptyState>
        }
      />
      <MapDialog opened={isOpen} waiting={waiting} onSaved={onSaved} onClose={() => setOpen(false)} />
    </>
  );
}

function useColumns(onMap: (row: UnmappedCode) => void): Column<UnmappedCode>[] {
  const t = useTranslations('terminology');
  const ofMaps = useTranslations('terminologyMaps');
  const { may } = useSession();
  const columns: Column<UnmappedCode>[] = [
    {
      heading: t('code'),
      share: 2,
      cell: ({ localCode, localDisplay, localSystem }) => (
        <Coded code={localCode} display={localDisplay} system={localSystem} />
      ),
    },
    numberColumn({ heading: t('count'), width: '8rem' }, ({ count }) => count),
    {
      heading: t('places'),
      width: '9.5rem',
      cell: ({ places }) => places.map(({ place }) => t(`place.${place as Place}`)).join(', '),
    },
    timeColumn(t('lastMet'), ({ lastMetAt }) => lastMetAt),
  ];
  if (!may('terminology.maps.manage')) return columns;
  return [
    ...columns,
    {
      heading: ofMaps('actions'),
      width: '7rem',
      cell: (row) => (
        <Button
          variant="light"
          size="xs"
          aria-label={t('mapNamed', { code: row.localCode })}
          onClick={() => onMap(row)}
        >
          {t('map')}
        </Button>
      ),
    },
  ];
}
