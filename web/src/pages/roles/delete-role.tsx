/** Deletes a role that nobody holds. Contract: WEB-27. */
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { ConfirmDialog } from '../../blocks/dialogs/confirm-dialog.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { useSession } from '../../shell/session-context.tsx';
import type { Role } from '../accounts/account-data.ts';
import { readRolesAgain } from './role-data.ts';

export function DeleteRole({ role: { id, name, holders } }: { role: Role }) {
  const t = useTranslations('role');
  const { may } = useSession();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  if (!may('roles.manage')) return undefined;
  async function remove() {
    await answered(api.DELETE('/roles/{roleId}', { params: { path: { roleId: id } } }));
    await navigate({ to: '/roles' });
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
