/** Accounts of systems or of people, with the way to a new one. Contract: WEB-20, WEB-25, WEB-60. */
import { Button, Modal } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { SecretOnce } from '../../blocks/dialogs/secret-once.tsx';
import { numberColumn } from '../../blocks/list/columns.tsx';
import { useListOf } from '../../blocks/list/cursor-list.ts';
import { choicesOf } from '../../blocks/list/filter-bar.tsx';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';
import {
  ACCOUNT_PLACES,
  type Account,
  type AccountKind,
  type Issued,
  STATE_TONES,
  useRoles,
} from './account-data.ts';
import { CreateAccount } from './create-account.tsx';
import { useIssuedSecrets } from './issued-secrets.ts';

type State = Account['state'];
const STATES = Object.keys(STATE_TONES) as State[];

interface AccountSearch {
  search?: string;
  state?: string;
  /** The id of a role. */
  role?: string;
}

export function AccountList({ kind, search }: { kind: AccountKind; search: AccountSearch }) {
  const t = useTranslations('accounts');
  const navigate = useNavigate();
  const secretsOf = useIssuedSecrets();
  const [isCreating, setCreating] = useState(false);
  const [issued, setIssued] = useState<Issued>();
  const create = () => setCreating(true);
  const close = () => setCreating(false);
  useCommands([{ id: `account-create-${kind}`, label: t(`${kind}.create`), run: create }]);
  const button = <Button onClick={create}>{t(`${kind}.create`)}</Button>;

  /** A system signs in with its id, not with its email. */
  const signsInBy = ({ userId }: Issued) => (kind === 'EHR' ? [{ name: t('userId'), value: userId }] : []);
  function kept(accountId: string) {
    setIssued(undefined);
    void navigate({ to: ACCOUNT_PLACES[kind].one, params: { accountId }, ignoreBlocker: true });
  }
  return (
    <>
      <PageHeader title={t(`${kind}.title`)} text={t(`${kind}.text`)} actions={button} />
      <ListPage
        label={t(`${kind}.title`)}
        list={useAccounts(kind, search)}
        columns={useColumns(kind)}
        rowId={({ userId }) => userId}
        filters={[
          { name: 'search', label: t('search'), kind: 'text' },
          { name: 'state', label: t('state'), choices: choicesOf(STATES, (one) => t(`states.${one}`)) },
          { name: 'role', label: t('role'), choices: useRoleChoices(search.role) },
        ]}
        empty={
          <EmptyState title={t(`${kind}.empty`)} text={t(`${kind}.emptyText`)}>
            <Button variant="default" onClick={create}>
              {t(`${kind}.create`)}
            </Button>
          </EmptyState>
        }
      />
      <Modal opened={isCreating} onClose={close} title={t(`${kind}.create`)}>
        <CreateAccount kind={kind} onClose={close} onCreated={setIssued} />
      </Modal>
      <SecretOnce
        title={t('issuedTitle', { email: issued?.email ?? '' })}
        text={kind === 'EHR' && issued !== undefined ? <NextStep accountId={issued.userId} /> : undefined}
        secrets={issued === undefined ? undefined : [...secretsOf(issued), ...signsInBy(issued)]}
        onClose={() => kept(issued?.userId ?? '')}
      />
    </>
  );
}

/** In another tab, as the secret is gone when the dialog closes. */
function NextStep({ accountId }: { accountId: string }) {
  const t = useTranslations('accounts');
  return t.rich('nextStep', {
    link: (words) => (
      <Link to={ACCOUNT_PLACES.EHR.one} params={{ accountId }} target="_blank">
        {words}
      </Link>
    ),
  });
}

/** Also the one of the address, before the roles are read and when it is gone. */
function useRoleChoices(chosen: string | undefined): { value: string; label: string }[] {
  const t = useTranslations('accounts');
  const { data: roles } = useRoles();
  const choices = (roles ?? []).map(({ id, name }) => ({ value: id, label: name }));
  if (chosen === undefined || choices.some(({ value }) => value === chosen)) return choices;
  return [...choices, { value: chosen, label: roles === undefined ? '…' : t('anotherRole') }];
}

function useAccounts(type: AccountKind, { search, state, role }: AccountSearch) {
  return useListOf(['accounts', type], '/accounts', { type, search, state, role });
}

function useColumns(kind: AccountKind): Column<Account>[] {
  const t = useTranslations('accounts');
  return [
    {
      heading: t('email'),
      share: 1.9,
      cell: ({ email, userId }) => (
        <Link to={ACCOUNT_PLACES[kind].one} params={{ accountId: userId }}>
          {email}
        </Link>
      ),
    },
    {
      heading: t('state'),
      width: '13.5rem',
      cell: ({ state }) => <StatusBadge tone={STATE_TONES[state]} label={t(`states.${state}`)} />,
    },
    { heading: t('role'), cell: ({ role }) => role.name },
    kind === 'EHR'
      ? numberColumn({ heading: t('sessions'), width: '6rem' }, ({ liveSessions }) => liveSessions)
      : {
          heading: t('secondFactor'),
          width: '8rem',
          cell: ({ secondFactor }) => (secondFactor ? t('has') : t('hasNot')),
        },
    {
      heading: t('lastUsed'),
      width: '13.5rem',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? t('notUsed') : <ZonedTime at={lastUsedAt} />),
    },
  ];
}
