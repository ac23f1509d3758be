/** The roles of the organisation, and how many hold each. Contract: WEB-26. */
import { Button, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useFormatter, useTranslations } from 'use-intl';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { numberColumn } from '../../blocks/list/columns.tsx';
import { useListOf } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { ACCOUNT_PLACES, type AccountKind, type Role } from '../accounts/account-data.ts';

const route = getRouteApi('/shell/roles');

export function RolesPage() {
  const t = useTranslations('roles');
  const { may } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const create = () => void navigate({ to: '/roles/new' });
  const isManager = may('roles.manage');
  useCommands(isManager ? [{ id: 'role-create', label: t('create'), run: create }] : []);
  const list = useListOf(['roles'], '/roles', search);
  return (
    <>
      <PageHeader
        title={t('title')}
        text={t('text')}
        actions={isManager ? <Button onClick={create}>{t('create')}</Button> : undefined}
      />
      <ListPage
        label={t('title')}
        list={list}
        columns={useColumns()}
        rowId={({ id }) => id}
        filters={[{ name: 'search', label: t('search'), kind: 'text' }]}
        empty={<EmptyState title={t('empty')} text={t('emptyText')} />}
      />
    </>
  );
}

function useColumns(): Column<Role>[] {
  const t = useTranslations('roles');
  return [
    {
      heading: t('name'),
      share: 2,
      cell: ({ id, name }) => (
        <Link to="/roles/$roleId" params={{ roleId: id }}>
          {name}
        </Link>
      ),
    },
    numberColumn({ heading: t('permissions'), width: '8rem' }, (role) => role.permissions.length),
    {
      heading: t('systems'),
      width: '8rem',
      isNumber: true,
      cell: (role) => <Holders role={role} kind="EHR" />,
    },
    {
      heading: t('people'),
      width: '8rem',
      isNumber: true,
      cell: (role) => <Holders role={role} kind="STAFF" />,
    },
    {
      heading: t('secondFactor'),
      width: '9rem',
      cell: ({ requiresSecondFactor }) =>
        requiresSecondFactor ? t('required') : <Text c="dimmed">{t('notRequired')}</Text>,
    },
  ];
}

/** How many hold it, and the way to them. Contract: WEB-61. */
function Holders({ role: { id, name, holders }, kind }: { role: Role; kind: AccountKind }) {
  const t = useTranslations('roles');
  const { may } = useSession();
  const count = holders[kind];
  const shown = useFormatter().number(count);
  if (count === 0 || !may(ACCOUNT_PLACES[kind].permission)) return shown;
  return (
    <Link
      to={ACCOUNT_PLACES[kind].list}
      search={{ role: id }}
      aria-label={t(`holders.${kind}`, { count, name })}
    >
      {shown}
    </Link>
  );
}
