/** Who changed what in the administration, from what to what. Contract: WEB-57. */
import { getRouteApi } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import type { paths } from '../../api/schema.d.ts';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';
import { useSession } from '../../shell/session-context.tsx';
import css from './audit.module.css';
import { AuditExport } from './audit-export.tsx';
import { ChangedMembers } from './changed-members.tsx';

type Change =
  paths['/administration/audit']['get']['responses'][200]['content']['application/json']['items'][number];

const route = getRouteApi('/shell/audit');

export function AuditPage() {
  const t = useTranslations('audit');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { facility } = useSession();
  const list = useCursorList<Change>(['audit', facility?.id, search], (cursor) =>
    answered(
      api.GET('/administration/audit', {
        params: { query: { ...search, limit: 50, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} actions={<AuditExport filters={search} />} />
      <ListPage
        label={t('changes')}
        list={list}
        columns={useColumns()}
        rowId={({ id }) => id}
        filters={[
          { name: 'actor', label: t('actorFilter'), kind: 'text' },
          { name: 'action', label: t('actionFilter'), kind: 'text' },
          { name: 'subject', label: t('subjectFilter'), kind: 'text' },
          { name: 'since', label: t('since'), kind: 'day' },
          { name: 'until', label: t('until'), kind: 'day' },
        ]}
        values={search}
        onFilter={(change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })}
        empty={<EmptyState title={t('empty')} text={t('emptyText')} />}
      />
    </>
  );
}

function useColumns(): Column<Change>[] {
  const t = useTranslations('audit');
  return [
    { name: 'at', heading: t('at'), width: '13.5rem', cell: ({ at }) => <ZonedTime at={at} /> },
    {
      name: 'actor',
      heading: t('actor'),
      share: 0.8,
      cell: ({ actor }) => (actor.kind === 'operator' ? t('operator') : (actor.email ?? actor.id)),
    },
    { name: 'action', heading: t('action'), width: '12rem', cell: ({ action }) => <code>{action}</code> },
    {
      name: 'subject',
      heading: t('subject'),
      cell: ({ subject: { type, id, name } }) => (
        <div>
          <span title={id}>{name ?? <code>{id}</code>}</span>
          <span className={css.kind}>{t(`subjects.${type}`)}</span>
        </div>
      ),
    },
    {
      name: 'change',
      heading: t('change'),
      share: 2,
      cell: ({ before, after }) => <ChangedMembers before={before} after={after} />,
    },
  ];
}
