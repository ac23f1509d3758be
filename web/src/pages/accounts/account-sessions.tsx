/** Where an account is signed in at the moment, and the way to end it. Contract: WEB-24, WEB-62. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { ConfirmDialog } from '../../blocks/dialogs/confirm-dialog.tsx';
import { timeColumn } from '../../blocks/list/columns.tsx';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { EndSession, useDeviceColumn } from '../my-account/device-session.tsx';
import { type Account, type AccountSession, readAccountsAgain } from './account-data.ts';

export function AccountSessions({ account }: { account: Account }) {
  const t = useTranslations('accounts');
  const [isAsking, setAsking] = useState(false);
  const accountId = account.userId;
  const list = useCursorList<AccountSession>(['account-sessions', accountId], (cursor) =>
    answered(
      api.GET('/accounts/{accountId}/sessions', {
        params: { path: { accountId }, query: { limit: 50, cursor } },
      }),
    ),
  );
  async function endAll() {
    await answered(api.DELETE('/accounts/{accountId}/sessions', { params: { path: { accountId } } }));
    await readAccountsAgain();
    announce({ kind: 'good', text: t('sessionsEnded') });
  }
  return (
    <Section
      title={t('sessions')}
      text={t('sessionsText')}
      actions={
        list.rows.length === 0 ? undefined : (
          <Button variant="default" size="xs" onClick={() => setAsking(true)}>
            {t('endAll')}
          </Button>
        )
      }
    >
      <ListPage
        label={t('sessions')}
        list={list}
        columns={useColumns(accountId)}
        rowId={({ id }) => id}
        empty={<EmptyState title={t('noSessions')} text={t('noSessionsText')} />}
      />
      <ConfirmDialog
        opened={isAsking}
        title={t('endAllTitle', { email: account.email })}
        text={t('endAllText', { count: account.liveSessions })}
        action={t('endAll')}
        isDangerous
        onConfirm={endAll}
        onClose={() => setAsking(false)}
      />
    </Section>
  );
}

function useColumns(accountId: string): Column<AccountSession>[] {
  const t = useTranslations('accounts');
  async function end(sessionId: string) {
    const params = { path: { accountId, sessionId } };
    await answered(api.DELETE('/accounts/{accountId}/sessions/{sessionId}', { params }));
    await readAccountsAgain();
  }
  return [
    useDeviceColumn(),
    timeColumn(t('sessionBegan'), ({ createdAt }) => createdAt),
    timeColumn(t('lastUsed'), ({ lastUsedAt }) => lastUsedAt),
    timeColumn(t('sessionEnds'), ({ expiresAt }) => expiresAt),
    {
      heading: t('action'),
      width: '6rem',
      cell: (one) => <EndSession session={one} end={() => end(one.id)} />,
    },
  ];
}
