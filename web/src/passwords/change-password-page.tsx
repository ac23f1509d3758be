/** Somebody else set the password: it must be changed before anything else. */
import { useTranslations } from 'use-intl';
import type { SignedIn } from '../api/session.ts';
import { readSessionAgain } from '../app/queries.ts';
import { OutsidePage } from '../sign-in/outside-page.tsx';
import { SignOutButton } from '../sign-in/sign-out-button.tsx';
import { ChangePasswordForm } from './change-password-form.tsx';

export function ChangePasswordPage({ session }: { session: SignedIn }) {
  const t = useTranslations('signIn');
  return (
    <OutsidePage title={t('changePassword')} text={t('changePasswordText')}>
      <ChangePasswordForm email={session.account.email} onDone={readSessionAgain} />
      <SignOutButton />
    </OutsidePage>
  );
}
