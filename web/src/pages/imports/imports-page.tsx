/** Records from files: check and import them, and what was imported so far. Contract: WEB-47, WEB-48. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { queries } from '../../app/queries.ts';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';
import { DropZone } from './drop-zone.tsx';
import { type Import, STATES, TONES } from './import-data.ts';
import css from './imports.module.css';
import { UploadList } from './upload-list.tsx';
import { useUploads } from './uploads.ts';

const route = getRouteApi('/shell/imports');
/** Between two looks at imports that run. */
const WATCH_MS = 2_000;

export function ImportsPage() {
  const t = useTranslations('imports');
  const { add, ...uploads } = useUploads();
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} />
      <DropZone onFiles={add} />
      <UploadList {...uploads} />
      <h2 className={css.heading}>{t('list')}</h2>
      <p className={css.quiet}>{t('listText')}</p>
      <Imports />
    </>
  );
}

function Imports() {
  const t = useTranslations('imports');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useCursorList<Import>(['imports', 'list', search], (cursor) =>
    answered(
      api.GET('/imports', {
        params: {
          query: {
            state: search.state as Import['state'],
            limit: 50,
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
      }),
    ),
  );
  useWatch(list.rows.some(({ state }) => state === 'running'));
  return (
    <ListPage
      label={t('list')}
      list={list}
      columns={useColumns()}
      rowId={({ id }) => id}
      filters={[
        {
          name: 'state',
          label: t('state'),
          kind: 'choice',
          choices: STATES.map((value) => ({ value, label: t(`states.${value}`) })),
        },
      ]}
      values={search}
      onFilter={(change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })}
      empty={<EmptyState title={t('empty')} text={t('emptyText')} />}
    />
  );
}

/** Reads the list again while something runs. */
function useWatch(isRunning: boolean): void {
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(
      () => void queries.invalidateQueries({ queryKey: ['imports', 'list'] }),
      WATCH_MS,
    );
    return () => clearInterval(timer);
  }, [isRunning]);
}

function useColumns(): Column<Import>[] {
  const t = useTranslations('imports');
  const format = useFormatter();
  return [
    {
      name: 'state',
      heading: t('state'),
      width: '9.5rem',
      cell: ({ state }) => <StatusBadge tone={TONES[state]} label={t(`states.${state}`)} />,
    },
    {
      name: 'started',
      heading: t('started'),
      width: '13.5rem',
      cell: ({ id, startedAt }) => (
        <Link to="/imports/$importId" params={{ importId: id }}>
          <ZonedTime at={startedAt} />
        </Link>
      ),
    },
    {
      name: 'by',
      heading: t('by'),
      cell: ({ startedBy }) => (startedBy.kind === 'operator' ? t('operator') : (startedBy.email ?? '–')),
    },
    {
      name: 'taken',
      heading: t('resources'),
      width: '8rem',
      isNumber: true,
      cell: ({ progress }) => format.number(progress.resources),
    },
    {
      name: 'rejected',
      heading: t('rejected'),
      width: '8rem',
      isNumber: true,
      cell: ({ progress }) => format.number(progress.rejected),
    },
  ];
}
