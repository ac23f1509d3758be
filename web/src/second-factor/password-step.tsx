/** Before a second factor changes, the password once more. */
import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { SendButton } from '../blocks/page/send-button.tsx';
import { useServerForm } from '../blocks/page/server-form.ts';
import { ServerFormFields } from '../blocks/page/server-form-fields.tsx';

interface PasswordStepProperties {
  asksForSecret?: boolean;
  submit: (password: string) => Promise<unknown>;
}

export function PasswordStep({ submit, asksForSecret = false }: PasswordStepProperties) {
  const t = useTranslations('secondFactor');
  const form = useServerForm({
    values: { password: '' },
    asksForSecret,
    submit: ({ password }) => submit(password),
  });
  return (
    <ServerFormFields form={form}>
      <PasswordAgain data-autofocus {...form.field('password')} />
      <SendButton type="submit" isSending={form.isSending}>
        {t('next')}
      </SendButton>
    </ServerFormFields>
  );
}

export function PasswordAgain(properties: PasswordInputProps) {
  const t = useTranslations('secondFactor');
  return (
    <PasswordInput
      label={t('password')}
      description={t('passwordText')}
      autoComplete="current-password"
      required
      {...properties}
    />
  );
}
