/** A passkey of this device or of a security key is added: password, name, and the browser's own dialog. Contract: WEB-51. */
import { Text, TextInput } from '@mantine/core';
import { useEffect } from 'react';
import { useTranslations } from 'use-intl';
import { send } from '../api/api.ts';
import { SendButton } from '../blocks/page/send-button.tsx';
import { useServerForm } from '../blocks/page/server-form.ts';
import { ServerFormFields } from '../blocks/page/server-form-fields.tsx';
import {
  browserSupportsWebAuthn,
  makePasskey,
  usePasskeyErrorText,
  WebAuthnAbortService,
} from './passkeys.ts';
import { PasswordAgain } from './password-step.tsx';

interface AddPasskeyProperties {
  /** With codes when it is the first second factor. */
  onAdded: (recoveryCodes: readonly string[] | undefined) => void;
}

export function AddPasskey({ onAdded }: AddPasskeyProperties) {
  const t = useTranslations('secondFactor');
  const errorText = usePasskeyErrorText();
  const form = useServerForm({
    values: { name: '', password: '' },
    asksForSecret: true,
    submit: async ({ name, password }) => {
      const options = await (await send('POST', '/second-factor/passkey-options', { password })).json();
      const response = await makePasskey(options);
      const answer = await send('POST', '/second-factor/passkeys', { name, response });
      onAdded(((await answer.json()) as { recoveryCodes?: string[] }).recoveryCodes);
    },
  });
  // Until the browser has an answer, the form holds the page: whoever closes it wants no passkey.
  useEffect(() => () => WebAuthnAbortService.cancelCeremony(), []);
  if (!browserSupportsWebAuthn()) return <Text>{t('passkeyUnsupported')}</Text>;
  return (
    <ServerFormFields form={form} errorText={errorText}>
      <TextInput
        label={t('passkeyName')}
        description={t('passkeyNameText')}
        maxLength={100}
        required
        data-autofocus
        {...form.field('name')}
      />
      <PasswordAgain {...form.field('password')} />
      <SendButton type="submit" isSending={form.isSending}>
        {t('passkeyCreate')}
      </SendButton>
    </ServerFormFields>
  );
}
