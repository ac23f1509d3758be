/** One order or set of vital signs: its publishes, what would be sent, and another publish. Contract: WEB-46. */

import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { numberColumn, timeColumn } from '../../blocks/list/columns.tsx';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { InEnglish } from '../../blocks/values/in-english.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { NotFound } from '../../shell/not-found.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { PublishAgain } from './publish-again.tsx';
import {
  isKind,
  ofRecord,
  PUBLICATION_TONES,
  PUBLISHED_KINDS,
  type PublishedKind,
  type Run,
} from './publishing-data.ts';

const route = getRouteApi('/shell/publishing/$kind/$recordId');

export function RecordPage() {
  const t = useTranslations('publishing');
  const { kind, recordId } = route.useParams();
  const { may } = useSession();
  if (!isKind(kind)) return <NotFound />;
  const { permission } = PUBLISHED_KINDS[kind];
  return (
    <>
      <PageHeader
        title={t(`kinds.${kind}`)}
        text={<code>{recordId}</code>}
        back={<Link to="/publishing">{t('back')}</Link>}
      />
      {may(permission) ? (
        <>
          <PublishAgain kind={kind} recordId={recordId} />
          <History kind={kind} recordId={recordId} />
        </>
      ) : (
        <p>{t.rich('mayNot', { name: () => <code>{permission}</code> })}</p>
      )}
    </>
  );
}

function History({ kind, recordId }: { kind: PublishedKind; recordId: string }) {
  const t = useTranslations('publishing');
  const list = useCursorList<Run>(['publications', kind, recordId], (cursor) =>
    ofRecord('GET', { kind, recordId }, { limit: '50', ...(cursor === undefined ? {} : { cursor }) }),
  );
  return (
    <Section title={t('history')} text={t('historyText')}>
      <ListPage
        label={t('history')}
        list={list}
        columns={useColumns()}
        rowId={({ id }) => id}
        empty={<EmptyState title={t('empty')} text={t('noHistory')} />}
      />
    </Section>
  );
}

function useColumns(): Column<Run>[] {
  const t = useTranslations('publishing');
  return [
    {
      heading: t('state'),
      width: '9rem',
      cell: ({ outcome }) => <StatusBadge tone={PUBLICATION_TONES[outcome]} label={t(`states.${outcome}`)} />,
    },
    { heading: t('target'), width: '9rem', cell: ({ target }) => target },
    timeColumn(t('started'), ({ startedAt }) => startedAt),
    numberColumn({ heading: t('stored'), width: '5.75rem' }, ({ published }) => published.length),
    {
      heading: t('failure'),
      share: 2,
      cell: ({ failure }) => (failure === null ? '–' : <InEnglish text={failure} />),
    },
  ];
}
