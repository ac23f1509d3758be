/** After the password: the code of an app, a passkey or a recovery code. */
import { useTranslations } from 'use-intl';
import type { SecondFactorMethod } from '../api/session.ts';
import { OutsidePage } from './outside-page.tsx';
import { SignOutButton } from './sign-out-button.tsx';

export default function SecondFactorPage({ methods }: { methods: readonly SecondFactorMethod[] }) {
  const t = useTranslations('signIn');
  return (
    <OutsidePage title={t('secondFactor')} text={t('secondFactorText', { count: methods.length })}>
      <SignOutButton />
    </OutsidePage>
  );
}
