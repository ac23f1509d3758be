/** One role, or a new one. Contract: WEB-27. */

import { Button } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { ConfirmDialog } from '../../blocks/dialogs/confirm-dialog.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { PageNotRead } from '../../blocks/states/page-not-read.tsx';
import { PageSkeleton } from '../../blocks/states/page-skeleton.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { type Role, useRoles } from '../accounts/account-data.ts';
import { readRolesAgain, usePermissions } from './role-data.ts';
import { RoleEditor } from './role-editor.tsx';
import { RoleHolders } from './role-holders.tsx';

const route = getRouteApi('/shell/roles/$roleId');

export function NewRolePage() {
  const t = useTranslations('newRole');
  const { data, error, isPending, refetch } = usePermissions();
  if (isPending) return <PageSkeleton />;
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} back={<Back />} />
      {data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <RoleEditor catalogue={data} />
      )}
    </>
  );
}

export function RolePage() {
  const t = useTranslations('role');
  const { roleId } = route.useParams();
  const permissions = usePermissions();
  const roles = useRoles();
  if (permissions.isPending || roles.isPending) return <PageSkeleton />;
  if (permissions.data === undefined)
    return <PageNotRead title={t('title')} back={<Back />} query={permissions} />;
  if (roles.data === undefined) return <PageNotRead title={t('title')} back={<Back />} query={roles} />;
  const role = roles.data.find(({ id }) => id === roleId);
  if (role === undefined)
    return (
      <>
        <PageHeader title={t('title')} back={<Back />} />
        <EmptyState title={t('gone')} text={t('goneText')} />
      </>
    );
  return (
    <>
      <PageHeader title={role.name} back={<Back />} actions={<DeleteRole role={role} />} />
      <RoleHolders role={role} />
      <RoleEditor key={role.id} role={role} catalogue={permissions.data} />
    </>
  );
}

function Back() {
  return <Link to="/roles">{useTranslations('roles')('title')}</Link>;
}

/** Only a role that nobody holds can be deleted. */
function DeleteRole({ role: { id, name, holders } }: { role: Role }) {
  const t = useTranslations('role');
  const { may } = useSession();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  if (!may('roles.manage')) return undefined;
  async function remove() {
    await answered(api.DELETE('/roles/{roleId}', { params: { path: { roleId: id } } }));
    await navigate({ to: '/roles', ignoreBlocker: true });
    await readRolesAgain();
    announce({ kind: 'good', text: t('deleted', { name }) });
  }
  return (
    <>
      <Button variant="default" disabled={holders.EHR + holders.STAFF > 0} onClick={() => setAsking(true)}>
        {t('delete')}
      </Button>
      <ConfirmDialog
        opened={isAsking}
        title={t('deleteTitle', { name })}
        text={t('deleteText')}
        action={t('delete')}
        isDangerous
        onConfirm={remove}
        onClose={() => setAsking(false)}
      />
    </>
  );
}
