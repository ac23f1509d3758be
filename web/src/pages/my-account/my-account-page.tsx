/** One's own password, second factors and sessions. Contract: WEB-54. */
import { useTranslations } from 'use-intl';
import { announce } from '../../blocks/page/announcements.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { ChangePasswordForm } from '../../passwords/change-password-form.tsx';
import { useSession } from '../../shell/session-context.tsx';
import css from './my-account.module.css';
import { readOwnAgain } from './own-account.ts';
import { OwnSessions } from './own-sessions.tsx';
import { SecondFactors } from './second-factors.tsx';

export function MyAccountPage() {
  const t = useTranslations('myAccount');
  const { session } = useSession();
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} />
      <div className={css.columns}>
        <SecondFactors />
        <Section title={t('password')} text={t('passwordText')}>
          <ChangePasswordForm
            email={session.account.email}
            onDone={async () => {
              announce({ kind: 'good', text: t('passwordChanged') });
              await readOwnAgain();
            }}
          />
        </Section>
      </div>
      <OwnSessions />
    </>
  );
}
