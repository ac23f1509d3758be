/** Out of a sign-in that is not finished. */
import { useTranslations } from 'use-intl';
import { SendButton } from '../blocks/page/send-button.tsx';
import { useSignOut } from '../shell/sign-out.ts';

export function SignOutButton() {
  const t = useTranslations('shell');
  const { signOut, isSending } = useSignOut();
  return (
    <SendButton variant="subtle" isSending={isSending} onClick={signOut}>
      {t('signOut')}
    </SendButton>
  );
}
