/** One role, or a new one. Contract: WEB-27. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { PageSkeleton } from '../../blocks/states/page-skeleton.tsx';
import { useRoles } from '../accounts/account-data.ts';
import { DeleteRole } from './delete-role.tsx';
import { usePermissions } from './role-data.ts';
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
  const failed = [permissions, roles].find(({ error }) => error !== null);
  if (permissions.data === undefined || roles.data === undefined)
    return (
      <>
        <PageHeader title={t('title')} back={<Back />} />
        <ErrorState error={failed?.error} onRetry={() => void failed?.refetch()} />
      </>
    );
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
