/** Who changed what in the administration, from what to what. Contract: WEB-57, WEB-67. */
import { getRouteApi } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { AUDIT_ACTIONS } from '../../../../src/tenancy/audit/audit-entry.ts';
import type { Item } from '../../api/answer.ts';
import { useServiceWords } from '../../app/service-words.ts';
import { ExportMenu } from '../../blocks/copies/export-menu.tsx';
import { timeColumn } from '../../blocks/list/columns.tsx';
import { useListOf } from '../../blocks/list/cursor-list.ts';
import { choicesOf } from '../../blocks/list/filter-bar.tsx';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { Email } from '../../blocks/values/email.tsx';
import { useSession } from '../../shell/session-context.tsx';
import css from './audit.module.css';
import { ChangedMembers } from './changed-members.tsx';
import { useKnownName } from './known-name.ts';

type Change = Item<'/administration/audit'>;

const route = getRouteApi('/shell/audit');

export function AuditPage() {
  const t = useTranslations('audit');
  const search = route.useSearch();
  const { facility } = useSession();
  const filters = useAsked(search);
  const list = useListOf(['audit', facility?.id], '/administration/audit', filters);
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} actions={<AuditExport filters={filters} />} />
      <ListPage
        label={t('changes')}
        list={list}
        columns={useColumns()}
        hasTallRows
        rowId={({ id }) => id}
        filters={[
          { name: 'actor', label: t('actorFilter'), kind: 'text' },
          {
            name: 'action',
            label: t('actionFilter'),
            choices: choicesOf(AUDIT_ACTIONS, useServiceWords('audit.actions')),
          },
          { name: 'subject', label: t('subjectFilter'), kind: 'text' },
          { name: 'since', label: t('since'), kind: 'day' },
          { name: 'until', label: t('until'), kind: 'day' },
        ]}
        empty={<EmptyState title={t('empty')} text={t('emptyText')} />}
      />
    </>
  );
}

/** The filters as the service takes them: it knows the operator by one word, whatever the language. */
function useAsked<Search extends { actor?: string }>(search: Search): Search {
  const word = useTranslations('audit')('operatorWord');
  const isOperator = search.actor?.trim().localeCompare(word, undefined, { sensitivity: 'base' }) === 0;
  return isOperator ? { ...search, actor: 'operator' } : search;
}

function useColumns(): Column<Change>[] {
  const t = useTranslations('audit');
  const wordsOf = useServiceWords('audit.actions');
  return [
    timeColumn(t('at'), ({ at }) => at),
    {
      heading: t('actor'),
      share: 1.1,
      cell: ({ actor }) =>
        actor.kind === 'operator' ? t('operator') : <Email address={actor.email ?? actor.id ?? ''} />,
    },
    {
      heading: t('action'),
      // Room for the longest word of each language: a share would cut it at 1280 px.
      width: '11.5rem',
      cell: ({ action }) => <span title={action}>{wordsOf(action)}</span>,
    },
    {
      heading: t('subject'),
      share: 1.1,
      cell: ({ subject }) => <Subject subject={subject} />,
    },
    {
      heading: t('change'),
      share: 2,
      cell: ({ before, after }) => <ChangedMembers before={before} after={after} />,
    },
  ];
}

/** Deliveries and maps have no name of their own: they are those of a connection, a facility or the organisation. */
function Subject({ subject: { type, id, name: own } }: Pick<Change, 'subject'>) {
  const t = useTranslations('audit');
  const nameOf = useKnownName({ hasConnections: type === 'deliveries' });
  const name = own ?? nameOf(id);
  return (
    <div>
      <span title={id}>{name === undefined ? <code>{id}</code> : <Email address={name} />}</span>
      <span className={css.kind}>{t(`subjects.${type}`)}</span>
    </div>
  );
}

const FORMATS = [
  { format: 'csv', words: 'exportCsv' },
  { format: 'ndjson', words: 'exportNdjson' },
] as const;

/** What the filters mean, as a file. */
function AuditExport({ filters }: { filters: Readonly<Record<string, string | undefined>> }) {
  const t = useTranslations('audit');
  const given = Object.entries(filters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const forms = FORMATS.map(({ format, words }) => ({
    id: `export-audit-${format}`,
    label: t(words),
    path: `/administration/audit/export?${new URLSearchParams([['format', format], ...given])}`,
    fileName: `audit.${format}`,
  }));
  return <ExportMenu label={t('export')} forms={forms} failed={(why) => t('exportFailed', { why })} />;
}
