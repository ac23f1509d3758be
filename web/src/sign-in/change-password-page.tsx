/** Somebody else set the password: it must be changed before anything else. */
import { Button, PasswordInput, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { send } from '../api/api.ts';
import { type SignedIn, sessionQuery } from '../api/session.ts';
import { useServerForm } from '../blocks/page/server-form.ts';
import { useErrorText } from '../blocks/states/error-text.ts';
import { Fault } from '../blocks/states/fault.tsx';
import { OutsidePage } from './outside-page.tsx';
import { SignOutButton } from './sign-out-button.tsx';

export default function ChangePasswordPage({ session }: { session: SignedIn }) {
  const t = useTranslations('signIn');
  const errorText = useErrorText();
  const client = useQueryClient();
  const form = useServerForm({
    values: { password: '', newPassword: '' },
    submit: async (values) => {
      await send('POST', '/session/password', values);
      await client.refetchQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <OutsidePage title={t('changePassword')} text={t('changePasswordText')}>
      <form onSubmit={form.onSubmit}>
        <Stack gap="md">
          <Fault text={form.error === undefined ? undefined : errorText(form.error)} />
          <input type="email" autoComplete="username" value={session.account.email} readOnly hidden />
          <PasswordInput
            label={t('oldPassword')}
            autoComplete="current-password"
            required
            withAsterisk={false}
            {...form.field('password')}
          />
          <PasswordInput
            label={t('newPassword')}
            description={t('passwordRule')}
            autoComplete="new-password"
            required
            withAsterisk={false}
            {...form.field('newPassword')}
          />
          <Button type="submit" loading={form.isSending}>
            {t('changePasswordSubmit')}
          </Button>
          <SignOutButton />
        </Stack>
      </form>
    </OutsidePage>
  );
}
