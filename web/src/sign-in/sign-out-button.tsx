/** Out of a sign-in that is not finished. */
import { Button } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { signOut } from '../api/session.ts';
import { endSession } from '../app/queries.ts';

export function SignOutButton() {
  const t = useTranslations('shell');
  const end = () => endSession('signed-out');
  return (
    <Button variant="subtle" onClick={() => void signOut().then(end, end)}>
      {t('signOut')}
    </Button>
  );
}
