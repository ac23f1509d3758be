/** Records from files: check and import them, and what was imported so far. Contract: WEB-47, WEB-48, WEB-64. */
import { Button, FileButton } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { numberColumn, timeColumn } from '../../blocks/list/columns.tsx';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { choicesOf } from '../../blocks/list/filter-bar.tsx';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { Email } from '../../blocks/values/email.tsx';
import { FILTERS, type Import } from './import-data.ts';
import { useImportName } from './import-name.ts';
import { ImportState } from './import-state.tsx';
import css from './imports.module.css';
import { UploadList } from './upload-list.tsx';
import { useUploads } from './uploads.ts';

const route = getRouteApi('/shell/imports');
/** Between two looks at imports that run. */
const WATCH_MS = 2_000;
const COMMANDS = 20;

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

const ACCEPTED = '.json,.ndjson,.gz,application/json,application/fhir+json,application/gzip';

/** Where files are dropped or chosen. */
function DropZone({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const t = useTranslations('imports');
  const [isOver, setOver] = useState(false);
  const forget = useRef<() => void>(null);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same with the keyboard.
    <div
      className={`${css.drop} ${isOver ? css.over : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles(event.dataTransfer.files);
      }}
    >
      <div className={css.dropLine}>
        <span>{t('drop')}</span>
        <FileButton
          multiple
          accept={ACCEPTED}
          resetRef={forget}
          onChange={(files) => {
            onFiles(files);
            // So that the same file can be chosen again after it was mended.
            forget.current?.();
          }}
        >
          {({ onClick }) => <Choose onClick={onClick} />}
        </FileButton>
      </div>
      <p className={css.quiet}>{t('dropHelp')}</p>
    </div>
  );
}

function Choose({ onClick }: { onClick: () => void }) {
  const t = useTranslations('imports');
  const label = useTranslations('blocks')('named', { name: t('title'), what: t('choose') });
  useCommands([{ id: 'imports-choose', label, run: onClick }]);
  return (
    <Button size="xs" variant="default" onClick={onClick}>
      {t('choose')}
    </Button>
  );
}

function Imports() {
  const t = useTranslations('imports');
  const search = route.useSearch();
  const list = useCursorList<Import>(
    ['imports', 'list', search],
    (cursor, headers) =>
      answered(
        api.GET('/imports', {
          params: { query: { state: search.state as (typeof FILTERS)[number], limit: 50, cursor } },
          headers,
        }),
      ),
    { everyMs: WATCH_MS, isOn: (rows) => rows.some(({ state }) => state === 'running') },
  );
  useImportCommands(list.rows);
  return (
    <ListPage
      label={t('list')}
      list={list}
      columns={useColumns()}
      rowId={({ id }) => id}
      filters={[
        { name: 'state', label: t('state'), choices: choicesOf(FILTERS, (one) => t(`found.${one}`)) },
      ]}
      empty={<EmptyState title={t('empty')} text={t('emptyText')} />}
    />
  );
}

/** The newest are reached from the palette by the names of their files. */
function useImportCommands(rows: readonly Import[]): void {
  const t = useTranslations('imports');
  const tBlocks = useTranslations('blocks');
  const nameOf = useImportName();
  const navigate = route.useNavigate();
  useCommands(
    rows.slice(0, COMMANDS).map((one) => ({
      id: `import-${one.id}`,
      label: tBlocks('named', { name: t('one'), what: nameOf(one) }),
      run: () => void navigate({ to: '/imports/$importId', params: { importId: one.id } }),
    })),
  );
}

function useColumns(): Column<Import>[] {
  const t = useTranslations('imports');
  const nameOf = useImportName();
  return [
    {
      heading: t('file'),
      share: 2,
      cell: (one) => (
        <Link to="/imports/$importId" params={{ importId: one.id }}>
          <bdi>{nameOf(one)}</bdi>
        </Link>
      ),
    },
    {
      heading: t('state'),
      width: '9.5rem',
      cell: (one) => <ImportState one={one} />,
    },
    timeColumn(t('started'), ({ startedAt }) => startedAt),
    {
      heading: t('by'),
      share: 1.5,
      cell: ({ startedBy }) =>
        startedBy.kind === 'operator' ? t('operator') : <Email address={startedBy.email ?? '–'} />,
    },
    numberColumn({ heading: t('resources'), width: '6rem' }, ({ progress }) => progress.resources),
    numberColumn({ heading: t('rejected'), width: '6rem' }, ({ progress }) => progress.rejected),
  ];
}
