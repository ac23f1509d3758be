/**
 * Changes the password of an account without signing in to the console: systems cannot, and their accounts may be asked to
 * (docs/sign-in.md). Contract: WEB-52.
 */
import { NativeSelect, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { sendOpenly } from '../api/api.ts';
import { useServerForm } from '../blocks/page/server-form.ts';
import { ServerFormFields } from '../blocks/page/server-form-fields.tsx';
import { OutsidePage } from '../sign-in/outside-page.tsx';
import { useSignInFault } from '../sign-in/sign-in-fault.ts';
import { ABOUT_NEW_PASSWORD, PasswordChange } from './password-change.tsx';

const TYPES = ['EHR', 'STAFF'] as const;

export function OpenPasswordPage() {
  const t = useTranslations('changePassword');
  const errorText = useSignInFault(t('refused'));
  const [isDone, setDone] = useState(false);
  const form = useServerForm({
    values: { email: '', userType: 'EHR', password: '', newPassword: '' },
    submit: async ({ email, userType, password, newPassword }) => {
      const { userId } = (await sendOpenly('/auth/verify', { email, userType })) as { userId: string };
      await sendOpenly('/auth/password', {
        identity: userId,
        userType,
        credential: password,
        newCredential: newPassword,
      });
      setDone(true);
    },
    aboutField: { newPassword: ABOUT_NEW_PASSWORD },
  });
  if (isDone)
    return (
      <OutsidePage title={t('done')} text={t('doneText')} isFocused>
        <Link to="/">{t('toSignIn')}</Link>
      </OutsidePage>
    );
  return (
    <OutsidePage title={t('title')} text={t('text')}>
      <ServerFormFields form={form} errorText={errorText}>
        <NativeSelect
          label={t('userType')}
          data={TYPES.map((value) => ({ value, label: t(`userTypes.${value}`) }))}
          {...form.field('userType')}
        />
        <TextInput
          label={t('email')}
          type="email"
          autoComplete="username"
          required
          {...form.field('email')}
        />
        <PasswordChange
          email={form.values.email}
          present={form.field('password')}
          next={form.field('newPassword')}
          isSending={form.isSending}
          labels={{ present: t('password'), next: t('newPassword'), submit: t('submit') }}
        />
      </ServerFormFields>
    </OutsidePage>
  );
}
