/** Sets a first password through POST /auth/password-setup (docs/sign-in.md). Contract: SIGN-IN-47, SEC-29. */
import { Button, Checkbox, Stack, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useState } from 'react';
import { useTranslations } from 'use-intl';
import { sendOpenly } from '../api/api.ts';
import { ApiError } from '../api/api-error.ts';
import { useServerForm } from '../blocks/page/server-form.ts';
import { useErrorText } from '../blocks/states/error-text.ts';
import { Fault } from '../blocks/states/fault.tsx';
import { OutsidePage } from '../sign-in/outside-page.tsx';
import { PasswordStrength } from './password-strength.tsx';

/** Of what was typed twice. */
class PasswordsDiffer extends Error {}

/** Undefined where no field is at fault, such as while the service is out of reach. */
function wrongField(error: unknown): 'password' | 'repeated' | undefined {
  if (error instanceof PasswordsDiffer) return 'repeated';
  return error instanceof ApiError && error.status !== 0 ? 'password' : undefined;
}

export function SetPasswordPage() {
  const t = useTranslations('setPassword');
  const token = useTokenOfAddress();
  // Another link begins anew.
  if (token !== '') return <SetPasswordByLink key={token} token={token} />;
  return (
    <OutsidePage title={t('title')}>
      <Fault text={t('incomplete')} />
    </OutsidePage>
  );
}

/** The token stands in the fragment, which no server sees. It does not stay in the address or the history. */
function useTokenOfAddress(): string {
  const [token, setToken] = useState('');
  useLayoutEffect(() => {
    const take = () => {
      const given = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
      if (location.hash !== '') history.replaceState(history.state, '', location.pathname);
      if (given !== '') setToken(given);
    };
    take();
    // Another link, opened in this tab, changes nothing but the fragment.
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, []);
  return token;
}

function SetPasswordByLink({ token }: { token: string }) {
  const t = useTranslations('setPassword');
  const tChange = useTranslations('changePassword');
  const errorText = useErrorText();
  const [isDone, setDone] = useState(false);
  const [isShown, setShown] = useState(false);
  const form = useServerForm({
    values: { password: '', repeated: '' },
    submit: async ({ password, repeated }) => {
      if (password !== repeated) throw new PasswordsDiffer();
      await sendOpenly('/auth/password-setup', { token, newCredential: password });
      setDone(true);
    },
  });
  const { error } = form;
  const status = error instanceof ApiError ? error.status : 0;
  const wrong = wrongField(error);
  // Each refusal leads to its field.
  useEffect(() => document.getElementById(wrongField(error) ?? '')?.focus(), [error]);
  if (isDone)
    return (
      <OutsidePage title={t('done')} text={t('doneText')} isFocused>
        <Link to="/">{tChange('toSignIn')}</Link>
      </OutsidePage>
    );

  const input = (name: 'password' | 'repeated') => ({
    ...form.field(name),
    id: name,
    label: t(name),
    type: isShown ? 'text' : 'password',
    autoComplete: 'new-password',
    error: wrong === name,
    required: true,
  });
  return (
    <OutsidePage title={t('title')}>
      {error === undefined ? undefined : (
        <Fault text={error instanceof PasswordsDiffer ? t('differ') : errorText(error)} />
      )}
      {/* A link that was used or is too old is of no more use. */}
      {status === 403 ? undefined : (
        <form onSubmit={form.onSubmit}>
          <Stack gap="md">
            <div>
              <TextInput {...input('password')} aria-describedby="strength" autoFocus />
              <PasswordStrength id="strength" password={form.values.password} />
            </div>
            <TextInput {...input('repeated')} />
            <Checkbox
              label={t('show')}
              checked={isShown}
              onChange={(event) => setShown(event.currentTarget.checked)}
            />
            <Button type="submit" size="md" aria-disabled={form.isSending}>
              {t('submit')}
            </Button>
          </Stack>
        </form>
      )}
    </OutsidePage>
  );
}
