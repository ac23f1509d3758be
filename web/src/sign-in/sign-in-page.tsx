/** Email and password. It stands at the address that the person wanted, and goes away when they are signed in. */
import { PasswordInput, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { sessionQuery, signIn } from '../api/session.ts';
import { awaitedPerson, queries, readSessionAgain, sessionWasEnded } from '../app/queries.ts';
import { SendButton } from '../blocks/page/send-button.tsx';
import { useServerForm } from '../blocks/page/server-form.ts';
import { ServerFormFields } from '../blocks/page/server-form-fields.tsx';
import { OutsidePage } from './outside-page.tsx';
import { useSignInFault } from './sign-in-fault.ts';

/** The service signed the person in, and the browser did not send the cookie back: it keeps none of https that came over http. */
class CookieNotKept extends Error {}

export function SignInPage() {
  const t = useTranslations('signIn');
  const fault = useSignInFault(t('refused'));
  const form = useServerForm({
    values: { email: '', password: '' },
    submit: async ({ email, password }) => {
      await signIn(email, password);
      await readSessionAgain();
      const { data, error } = queries.getQueryState(sessionQuery.queryKey) ?? {};
      if (error) throw error;
      if (data === null) throw new CookieNotKept();
    },
  });
  return (
    <OutsidePage title={t('title')}>
      {sessionWasEnded() ? (
        <Text role="status" mb="md">
          {t(awaitedPerson() === undefined ? 'sessionEnded' : 'sessionEndedUnsaved')}
        </Text>
      ) : undefined}
      <ServerFormFields
        form={form}
        errorText={(error) => (error instanceof CookieNotKept ? t('notKept') : fault(error))}
      >
        <TextInput
          label={t('email')}
          type="email"
          autoComplete="username"
          required
          autoFocus
          {...form.field('email')}
        />
        <PasswordInput
          label={t('password')}
          autoComplete="current-password"
          required
          {...form.field('password')}
        />
        <SendButton type="submit" isSending={form.isSending}>
          {t('submit')}
        </SendButton>
        <Text size="sm" c="dimmed">
          {t('forgotten')}
        </Text>
        <Text size="sm" c="dimmed">
          {t.rich('forSystems', { link: (words) => <Link to="/change-password">{words}</Link> })}
        </Text>
      </ServerFormFields>
    </OutsidePage>
  );
}
