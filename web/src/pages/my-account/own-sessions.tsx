/** Where the person is signed in, and how to end what they do not know. Contract: WEB-54, WEB-62. */
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { timeColumn } from '../../blocks/list/columns.tsx';
import { wholeList } from '../../blocks/list/cursor-list.ts';
import { type Column, RecordTable } from '../../blocks/list/record-table.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { TableSkeleton } from '../../blocks/states/table-skeleton.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { EndSession, useDeviceColumn } from './device-session.tsx';
import css from './my-account.module.css';
import { type OwnSession, readOwnAgain, useOwnSessions } from './own-account.ts';

export function OwnSessions() {
  const t = useTranslations('myAccount');
  const { data, error, isPending, refetch } = useOwnSessions();
  const columns = useColumns();
  return (
    <Section title={t('sessions')} text={t('sessionsText')}>
      {isPending ? <TableSkeleton rows={2} /> : undefined}
      {error === null ? undefined : <ErrorState error={error} onRetry={() => void refetch()} />}
      {data === undefined ? undefined : (
        <div className={css.sessions}>
          <RecordTable
            label={t('sessions')}
            columns={columns}
            list={wholeList(data.items)}
            rowId={({ id }) => id}
          />
          {data.more ? <p className={css.quiet}>{t('sessionsMore')}</p> : undefined}
        </div>
      )}
    </Section>
  );
}

function useColumns(): Column<OwnSession>[] {
  const t = useTranslations('myAccount');
  async function end(sessionId: string) {
    await answered(api.DELETE('/sessions/{sessionId}', { params: { path: { sessionId } } }));
    await readOwnAgain();
  }
  return [
    useDeviceColumn(),
    { heading: t('network'), width: '11rem', cell: ({ network }) => network ?? '–' },
    timeColumn(t('signedIn'), ({ createdAt }) => createdAt),
    timeColumn(t('used'), ({ lastUsedAt }) => lastUsedAt),
    {
      heading: t('state'),
      width: '8rem',
      cell: (one) =>
        one.current ? (
          <StatusBadge tone="good" label={t('thisOne')} />
        ) : (
          <EndSession session={one} end={() => end(one.id)} />
        ),
    },
  ];
}
