/** Somebody else set the password: it must be changed before anything else. */
import { useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { type SignedIn, sessionQuery } from '../api/session.ts';
import { OutsidePage } from '../sign-in/outside-page.tsx';
import { SignOutButton } from '../sign-in/sign-out-button.tsx';
import { ChangePasswordForm } from './change-password-form.tsx';

export function ChangePasswordPage({ session }: { session: SignedIn }) {
  const t = useTranslations('signIn');
  const client = useQueryClient();
  return (
    <OutsidePage title={t('changePassword')} text={t('changePasswordText')}>
      <ChangePasswordForm
        email={session.account.email}
        onDone={() => client.refetchQueries({ queryKey: sessionQuery.queryKey })}
      />
      <SignOutButton />
    </OutsidePage>
  );
}
