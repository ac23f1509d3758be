/** A new password for an account, or a link to set one. Contract: WEB-22. */
import { Text } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { FormButtons } from '../../blocks/dialogs/form-buttons.tsx';
import { useServerForm } from '../../blocks/page/server-form.ts';
import { ServerFormFields } from '../../blocks/page/server-form-fields.tsx';
import { type Account, type Issued, readAccountsAgain } from './account-data.ts';
import { PasswordField, usePasswordChoice } from './account-fields.tsx';

interface ResetPasswordProperties {
  account: Account;
  onClose: () => void;
  onReset: (issued: Issued) => void;
}

export function ResetPassword({ account, onClose, onReset }: ResetPasswordProperties) {
  const t = useTranslations('accounts');
  const password = usePasswordChoice(account.userType);
  const form = useServerForm({
    values: {},
    asksForSecret: true,
    submit: async () => {
      const issued = await answered(
        api.POST('/accounts/{accountId}/reset-password', {
          params: { path: { accountId: account.userId } },
          body: password.body,
        }),
      );
      // Before the list is read again, which may take long: the password or link is shown only once.
      onClose();
      onReset(issued);
      void readAccountsAgain();
    },
  });
  return (
    <ServerFormFields form={form}>
      <Text>{t('resetText')}</Text>
      <PasswordField choice={password} />
      <FormButtons action={t('resetSubmit')} isSending={form.isSending} isDangerous onCancel={onClose} />
    </ServerFormFields>
  );
}
