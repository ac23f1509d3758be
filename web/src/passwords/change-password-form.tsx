/** The own password: that until now, and a new one. The other sessions of the account end. */
import { useTranslations } from 'use-intl';
import { send } from '../api/api.ts';
import { useServerForm } from '../blocks/page/server-form.ts';
import { ServerFormFields } from '../blocks/page/server-form-fields.tsx';
import { ABOUT_NEW_PASSWORD, PasswordChange } from './password-change.tsx';

/** How messages of the service about it begin. */
const ABOUT_PRESENT_PASSWORD = ['The password is wrong', 'Le mot de passe est faux'];

interface ChangePasswordFormProperties {
  email: string;
  onDone: () => unknown;
}

export function ChangePasswordForm({ email, onDone }: ChangePasswordFormProperties) {
  const t = useTranslations('signIn');
  const form = useServerForm({
    values: { password: '', newPassword: '' },
    submit: async (values) => {
      await send('POST', '/session/password', values);
      form.reset();
      await onDone();
    },
    aboutField: { password: ABOUT_PRESENT_PASSWORD, newPassword: ABOUT_NEW_PASSWORD },
  });
  return (
    <ServerFormFields form={form}>
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <PasswordChange
        email={email}
        present={form.field('password')}
        next={form.field('newPassword')}
        isSending={form.isSending}
        labels={{ present: t('oldPassword'), next: t('newPassword'), submit: t('changePasswordSubmit') }}
      />
    </ServerFormFields>
  );
}
