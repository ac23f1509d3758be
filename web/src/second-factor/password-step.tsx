/** Before a second factor changes, the password once more. */
import { Button, PasswordInput, Stack } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { useServerForm } from '../blocks/page/server-form.ts';
import { useErrorText } from '../blocks/states/error-text.ts';
import { Fault } from '../blocks/states/fault.tsx';

interface PasswordStepProperties {
  submit: (password: string) => Promise<unknown>;
}

export function PasswordStep({ submit }: PasswordStepProperties) {
  const t = useTranslations('secondFactor');
  const errorText = useErrorText();
  const form = useServerForm({ values: { password: '' }, submit: ({ password }) => submit(password) });
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap="md">
        <Fault text={form.error === undefined ? undefined : errorText(form.error)} />
        <PasswordInput
          label={t('password')}
          description={t('passwordText')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
          {...form.field('password')}
        />
        <Button type="submit" loading={form.isSending}>
          {t('next')}
        </Button>
      </Stack>
    </form>
  );
}
