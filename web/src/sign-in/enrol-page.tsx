/** The role asks for a second factor, and the account has none yet. */
import { useTranslations } from 'use-intl';
import { OutsidePage } from './outside-page.tsx';
import { SignOutButton } from './sign-out-button.tsx';

export default function EnrolPage() {
  const t = useTranslations('signIn');
  return (
    <OutsidePage title={t('enrol')} text={t('enrolText')}>
      <SignOutButton />
    </OutsidePage>
  );
}
