/** Where the person is signed in, and how to end what they do not know. Contract: WEB-54, WEB-62. */
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { send } from '../../api/api.ts';
import { wholeList } from '../../blocks/list/cursor-list.ts';
import { type Column, RecordTable } from '../../blocks/list/record-table.tsx';
import { timeColumn } from '../../blocks/list/time-column.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { SendButton } from '../../blocks/page/send-button.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { useErrorText } from '../../blocks/states/error-text.ts';
import { TableSkeleton } from '../../blocks/states/table-skeleton.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { useDeviceName, useEndName } from './device-name.ts';
import css from './my-account.module.css';
import { type OwnSession, useOwnSessions, useReadOwnAgain } from './own-account.ts';

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
            list={wholeList(data)}
            rowId={({ id }) => id}
          />
        </div>
      )}
    </Section>
  );
}

function useColumns(): Column<OwnSession>[] {
  const t = useTranslations('myAccount');
  const nameOf = useDeviceName();
  const endName = useEndName();
  return [
    {
      name: 'device',
      heading: t('device'),
      cell: (one) => <span title={one.userAgent ?? undefined}>{nameOf(one)}</span>,
    },
    { name: 'network', heading: t('network'), width: '11rem', cell: ({ network }) => network ?? '–' },
    timeColumn('signedIn', t('signedIn'), ({ createdAt }) => createdAt),
    timeColumn('used', t('used'), ({ lastUsedAt }) => lastUsedAt),
    {
      name: 'state',
      heading: t('state'),
      width: '8rem',
      cell: (one) => <End session={one} name={endName(one)} />,
    },
  ];
}

function End({ session, name }: { session: OwnSession; name: string }) {
  const t = useTranslations('myAccount');
  const errorText = useErrorText();
  const readAgain = useReadOwnAgain();
  const end = useMutation({
    mutationFn: () => send('DELETE', `/sessions/${session.id}`),
    onSuccess: async () => {
      announce({ kind: 'good', text: t('ended') });
      await readAgain();
    },
    onError: (error) => announce({ kind: 'bad', text: errorText(error) }),
  });
  if (session.current) return <StatusBadge tone="good" label={t('thisOne')} />;
  return (
    <SendButton
      variant="default"
      size="compact-sm"
      isSending={end.isPending}
      aria-label={name}
      onClick={() => end.mutate()}
    >
      {t('end')}
    </SendButton>
  );
}
