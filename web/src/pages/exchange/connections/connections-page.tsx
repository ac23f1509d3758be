/** The connections of the facility to exchanges, and the way to a new one. Contract: WEB-43. */
import { Button, Modal } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../../api/api.ts';
import { useCommands } from '../../../blocks/dialogs/commands.ts';
import { type Secret, SecretOnce } from '../../../blocks/dialogs/secret-once.tsx';
import { useCursorList } from '../../../blocks/list/cursor-list.ts';
import { ListPage } from '../../../blocks/list/list-page.tsx';
import type { Column } from '../../../blocks/list/record-table.tsx';
import { PageHeader } from '../../../blocks/page/page-header.tsx';
import { EmptyState } from '../../../blocks/states/empty-state.tsx';
import { ZonedTime } from '../../../blocks/values/zoned-time.tsx';
import type { Connection } from '../exchange-data.ts';
import { ExchangeTabs } from '../exchange-tabs.tsx';
import { ConnectionState } from './connection-state.tsx';
import { CreateConnection } from './create-connection.tsx';

export function ConnectionsPage() {
  const t = useTranslations('exchangeConnections');
  const [isCreating, setCreating] = useState(false);
  const [secrets, setSecrets] = useState<readonly Secret[]>();
  // The service tells all of them at once.
  const list = useCursorList<Connection>(['exchange-connections', 'list'], async () => ({
    ...(await answered(api.GET('/exchange/connections'))),
    nextCursor: null,
  }));
  const create = () => setCreating(true);
  const close = () => setCreating(false);
  useCommands([{ id: 'connection-create', label: t('create'), run: create }]);
  const button = <Button onClick={create}>{t('create')}</Button>;
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} actions={list.rows.length > 0 ? button : undefined} />
      <ExchangeTabs />
      <ListPage
        label={t('list')}
        list={list}
        columns={useColumns()}
        rowId={({ id }) => id}
        empty={
          <EmptyState title={t('empty')} text={t('emptyText')}>
            {button}
          </EmptyState>
        }
      />
      <Modal opened={isCreating} onClose={close} title={t('create')}>
        <CreateConnection onClose={close} onCreated={setSecrets} />
      </Modal>
      <SecretOnce
        title={t('keepTitle')}
        text={t('keepText')}
        secrets={secrets}
        onClose={() => setSecrets(undefined)}
      />
    </>
  );
}

function useColumns(): Column<Connection>[] {
  const t = useTranslations('exchangeConnections');
  return [
    {
      heading: t('name'),
      share: 2,
      cell: ({ id, name }) => (
        <Link to="/exchange/connections/$connectionId" params={{ connectionId: id }}>
          {name}
        </Link>
      ),
    },
    {
      heading: t('state'),
      width: '17rem',
      cell: (connection) => <ConnectionState connection={connection} />,
    },
    { heading: t('address'), share: 3, cell: ({ address }) => address },
    {
      heading: t('created'),
      width: '9rem',
      cell: ({ createdAt }) => <ZonedTime at={createdAt} to="day" />,
    },
  ];
}
