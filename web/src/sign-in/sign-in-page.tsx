/** Email and password. It stands at the address that the person wanted, and goes away when they are signed in. */
import { PasswordInput, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { ApiError } from '../api/api-error.ts';
import { sessionQuery, signIn } from '../api/session.ts';
import { awaitedPerson, queries, readSessionAgain, sessionWasEnded } from '../app/queries.ts';
import { SendButton } from '../blocks/page/send-button.tsx';
import { useServerForm } from '../blocks/page/server-form.ts';
import { ServerFormFields } from '../blocks/page/server-form-fields.tsx';
import { useErrorText } from '../blocks/states/error-text.ts';
import { OutsidePage } from './outside-page.tsx';

/** The service signed the person in, and the browser did not send the cookie back: it keeps none of https that came over http. */
class CookieNotKept extends Error {}

/** The service speaks to systems, of identity, user type and headers; a person typed an email and a password. */
function useSignInFault(): (error: unknown) => string {
  const t = useTranslations('signIn');
  const errorText = useErrorText();
  return (error) => {
    if (error instanceof CookieNotKept) return t('notKept');
    if (!(error instanceof ApiError)) return errorText(error);
    if (error.status === 403) return t('refused');
    const seconds = error.status === 429 ? error.retryAfterSeconds : undefined;
    return seconds === undefined ? errorText(error) : t('locked', { minutes: Math.ceil(seconds / 60) });
  };
}

export function SignInPage() {
  const t = useTranslations('signIn');
  const errorText = useSignInFault();
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
      <ServerFormFields form={form} errorText={errorText}>
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
