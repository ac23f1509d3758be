/** After the password: the code of an app, a passkey or a recovery code. Contract: WEB-50. */
import { Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { send } from '../api/api.ts';
import type { SecondFactorMethod } from '../api/session.ts';
import { readSessionAgain } from '../app/queries.ts';
import { SendButton } from '../blocks/page/send-button.tsx';
import { useServerForm } from '../blocks/page/server-form.ts';
import { ServerFormFields } from '../blocks/page/server-form-fields.tsx';
import { answerByPasskey, usePasskeyErrorText } from '../second-factor/passkeys.ts';
import { OutsidePage } from './outside-page.tsx';
import css from './second-factor-page.module.css';
import { SignOutButton } from './sign-out-button.tsx';

/** The quickest first. */
const ORDER: readonly SecondFactorMethod[] = ['passkey', 'totp', 'recovery-code'];

export function SecondFactorPage({ methods }: { methods: readonly SecondFactorMethod[] }) {
  const t = useTranslations('signIn');
  const ways = ORDER.filter((one) => methods.includes(one));
  const [chosen, setChosen] = useState<SecondFactorMethod>();
  const way = chosen ?? ways[0];
  return (
    <OutsidePage title={t('secondFactor')} text={t('expires')} isFocused>
      <Stack gap="md">
        {way === 'passkey' ? <ByPasskey onDone={readSessionAgain} /> : undefined}
        {way === 'totp' ? <ByCode key={way} way={way} onDone={readSessionAgain} /> : undefined}
        {way === 'recovery-code' ? <ByCode key={way} way={way} onDone={readSessionAgain} /> : undefined}
        <div className={css.others}>
          {ways
            .filter((one) => one !== way)
            .map((one) => (
              <SendButton key={one} variant="default" onClick={() => setChosen(one)}>
                {t(`ways.${one}`)}
              </SendButton>
            ))}
          <SignOutButton />
        </div>
        <Text size="xs" c="dimmed">
          {t('noCodesLeft')}
        </Text>
      </Stack>
    </OutsidePage>
  );
}

function ByPasskey({ onDone }: { onDone: () => Promise<unknown> }) {
  const t = useTranslations('signIn');
  const form = useServerForm({
    values: {},
    submit: async () => {
      const options = await (await send('POST', '/session/passkey-options')).json();
      await send('POST', '/session/passkey', { response: await answerByPasskey(options) });
      await onDone();
    },
  });
  return (
    <ServerFormFields form={form} gap="sm" errorText={usePasskeyErrorText()}>
      <Text c="dimmed">{t('passkeyText')}</Text>
      <SendButton type="submit" fullWidth isSending={form.isSending}>
        {t('passkeySubmit')}
      </SendButton>
    </ServerFormFields>
  );
}

interface ByCodeProperties {
  way: 'totp' | 'recovery-code';
  onDone: () => Promise<unknown>;
}

function ByCode({ way, onDone }: ByCodeProperties) {
  const t = useTranslations('signIn');
  const isApp = way === 'totp';
  const form = useServerForm({
    values: { code: '' },
    submit: async ({ code }) => {
      await send('POST', `/session/${way}`, { code: code.trim() });
      await onDone();
    },
  });
  return (
    <ServerFormFields form={form} gap="sm">
      <TextInput
        label={isApp ? t('totpCode') : t('recoveryCode')}
        description={isApp ? t('totpText') : t('recoveryText')}
        autoComplete={isApp ? 'one-time-code' : 'off'}
        inputMode={isApp ? 'numeric' : 'text'}
        required
        autoFocus
        {...form.field('code')}
      />
      <SendButton type="submit" fullWidth isSending={form.isSending}>
        {t('confirm')}
      </SendButton>
    </ServerFormFields>
  );
}
