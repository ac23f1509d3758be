/** What the import of a file would change, entry by entry: what the map has now, and what it would have. Contract: WEB-58. */
import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { wholeList } from '../../../blocks/list/cursor-list.ts';
import { type Column, RecordTable } from '../../../blocks/list/record-table.tsx';
import { Section } from '../../../blocks/page/section.tsx';
import { StatusBadge } from '../../../blocks/values/status-badge.tsx';
import { Coded } from '../coded.tsx';
import { NewEntry, ReplacedEntry } from './entry-change.tsx';
import css from './import-changes.module.css';
import type { EntryChange, MapImportReport } from './map-import.ts';

const KINDS = ['created', 'changed'] as const;
type Shown = EntryChange['kind'] | 'all';

export function ImportChanges({ report }: { report: MapImportReport }) {
  const t = useTranslations('mapImport');
  const format = useFormatter();
  const [chosen, setChosen] = useState<Shown>('all');
  const { changes = [], created, changed } = report;
  const columns = useColumns(changes);
  if (changes.length === 0) return undefined;
  const hasBoth = created > 0 && changed > 0;
  const shown = hasBoth ? chosen : 'all';
  const rows = changes.filter(({ kind }) => shown === 'all' || kind === shown);
  const hidden = KINDS.filter(
    (kind) => (shown === 'all' || kind === shown) && listed(changes, kind) < report[kind],
  );
  return (
    <Section
      title={t('changes')}
      actions={
        hasBoth ? (
          <SegmentedControl
            size="xs"
            aria-label={t('show')}
            value={shown}
            data={[
              { value: 'all', label: t('all') },
              ...KINDS.map((kind) => ({ value: kind, label: t('kindCount', { kind, count: report[kind] }) })),
            ]}
            onChange={(value) => setChosen(value as Shown)}
          />
        ) : undefined
      }
    >
      {hidden.map((kind) => (
        <p key={kind} className={css.note}>
          {t('changesFirst', {
            kind,
            count: format.number(listed(changes, kind)),
            total: format.number(report[kind]),
          })}
        </p>
      ))}
      <RecordTable
        key={shown}
        label={t('changes')}
        columns={columns}
        list={wholeList(rows)}
        rowId={({ line, path }) => `${line ?? path}`}
      />
    </Section>
  );
}

function listed(changes: readonly EntryChange[], kind: EntryChange['kind']): number {
  return changes.filter((change) => change.kind === kind).length;
}

function useColumns(changes: readonly EntryChange[]): Column<EntryChange>[] {
  const t = useTranslations('mapImport');
  const line: Column<EntryChange> = {
    heading: t('line'),
    width: '4.5rem',
    isNumber: true,
    cell: (change) => change.line,
  };
  return [
    ...(changes.some((change) => change.line !== undefined) ? [line] : []),
    {
      heading: t('kind'),
      width: '7.5rem',
      cell: ({ kind }) => (
        <StatusBadge tone={kind === 'created' ? 'good' : 'running'} label={t('kindName', { kind })} />
      ),
    },
    {
      heading: t('code'),
      cell: ({ localCode, localSystem, before, after, path }) => (
        <div>
          <Coded code={localCode} display={(before ?? after).localDisplay} system={localSystem} />
          {path === undefined ? undefined : <span className={css.path}>{path}</span>}
        </div>
      ),
    },
    {
      heading: t('standard'),
      share: 1.6,
      cell: ({ targetSystem, before, after }) =>
        before === null ? (
          <NewEntry after={after} system={targetSystem} />
        ) : (
          <ReplacedEntry before={before} after={after} system={targetSystem} />
        ),
    },
  ];
}
