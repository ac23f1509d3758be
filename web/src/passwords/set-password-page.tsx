/** Sets a first password through POST /auth/password-setup (docs/sign-in.md). Contract: SIGN-IN-47, SEC-29. */
import { Button, Checkbox, Stack, TextInput } from '@mantine/core';
import { type ChangeEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useTranslations } from 'use-intl';
import { sendOpenly } from '../api/api.ts';
import { ApiError } from '../api/api-error.ts';
import { useErrorText } from '../blocks/states/error-text.ts';
import { Fault } from '../blocks/states/fault.tsx';
import { OutsidePage } from '../sign-in/outside-page.tsx';
import { PasswordStrength } from './password-strength.tsx';

interface Refusal {
  text: string;
  field?: 'password' | 'repeated';
}

export function SetPasswordPage() {
  const t = useTranslations('setPassword');
  const token = useTokenOfAddress();
  const [isDone, setDone] = useState(false);
  const [isSpent, setSpent] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another link begins anew.
  useEffect(() => {
    setDone(false);
    setSpent(false);
    setRefusal(undefined);
  }, [token]);
  if (isDone) return <OutsidePage title={t('done')} text={t('doneText')} isFocused />;
  const fault = token === '' ? t('incomplete') : refusal?.text;
  return (
    <OutsidePage title={t('title')}>
      <Fault text={fault} />
      {token === '' || isSpent ? undefined : (
        <SetPasswordForm
          key={token}
          token={token}
          refusal={refusal}
          onRefused={(given, status) => {
            setRefusal(given);
            // A link that was used or is too old is of no more use.
            if (status === 403) setSpent(true);
          }}
          onDone={() => setDone(true)}
        />
      )}
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

interface FormProperties {
  token: string;
  refusal: Refusal | undefined;
  onRefused: (refusal: Refusal, status?: number) => void;
  onDone: () => void;
}

function SetPasswordForm({ token, refusal, onRefused, onDone }: FormProperties) {
  const t = useTranslations('setPassword');
  const errorText = useErrorText();
  const [isShown, setShown] = useState(false);
  const [isSending, setSending] = useState(false);
  const [typed, setTyped] = useState('');
  const password = useRef<HTMLInputElement>(null);
  const repeated = useRef<HTMLInputElement>(null);
  useEffect(() => password.current?.focus(), []);
  useEffect(() => {
    if (refusal !== undefined) (refusal.field === 'repeated' ? repeated : password).current?.focus();
  }, [refusal]);

  async function submit() {
    const [wanted = '', again = ''] = [password, repeated].map((one) => one.current?.value);
    if (isSending) return;
    if (wanted !== again) return onRefused({ text: t('differ'), field: 'repeated' });
    setSending(true);
    try {
      await sendOpenly('/auth/password-setup', { token, newCredential: wanted });
      onDone();
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      onRefused({ text: errorText(error), ...(status === 0 ? {} : { field: 'password' }) }, status);
    } finally {
      setSending(false);
    }
  }

  const field = (name: 'password' | 'repeated', label: string, ref: RefObject<HTMLInputElement | null>) => (
    <TextInput
      ref={ref}
      id={name}
      label={label}
      type={isShown ? 'text' : 'password'}
      autoComplete="new-password"
      error={refusal?.field === name}
      required
      {...(name === 'password'
        ? {
            'aria-describedby': 'strength',
            onChange: (event: ChangeEvent<HTMLInputElement>) => setTyped(event.currentTarget.value),
          }
        : {})}
    />
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Stack gap="md">
        <div>
          {field('password', t('password'), password)}
          <PasswordStrength id="strength" password={typed} />
        </div>
        {field('repeated', t('repeated'), repeated)}
        <Checkbox
          label={t('show')}
          checked={isShown}
          onChange={(event) => setShown(event.currentTarget.checked)}
        />
        <Button type="submit" size="md" aria-disabled={isSending}>
          {t('submit')}
        </Button>
      </Stack>
    </form>
  );
}
