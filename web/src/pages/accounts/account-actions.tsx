/** What can be done with an account: change, reset, unlock, disable, enable, remove its second factor. Contract: WEB-22, WEB-28. */
import { Button, Modal, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { findFocus } from '../../app/focus.ts';
import { asChange } from '../../app/queries.ts';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { ConfirmDialog } from '../../blocks/dialogs/confirm-dialog.tsx';
import { FormButtons } from '../../blocks/dialogs/form-buttons.tsx';
import { SecretOnce } from '../../blocks/dialogs/secret-once.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { useServerForm } from '../../blocks/page/server-form.ts';
import { ServerFormFields } from '../../blocks/page/server-form-fields.tsx';
import { useErrorText } from '../../blocks/states/error-text.ts';
import { type Account, type Issued, readAccountsAgain } from './account-data.ts';
import { PasswordField, usePasswordChoice } from './account-fields.tsx';
import { EditAccount } from './edit-account.tsx';
import { useIssuedSecrets } from './issued-secrets.ts';

type Question = 'edit' | 'reset' | 'disable' | 'second-factor';

export function AccountActions({ account }: { account: Account }) {
  const t = useTranslations('accounts');
  const errorText = useErrorText();
  const secretsOf = useIssuedSecrets();
  const [question, setQuestion] = useState<Question>();
  const [issued, setIssued] = useState<Issued>();
  const { email } = account;
  const params = { path: { accountId: account.userId } };
  const close = () => setQuestion(undefined);

  async function done(call: Promise<unknown>, text: string) {
    await call;
    await readAccountsAgain();
    announce({ kind: 'good', text });
  }
  /** What needs no question. Its button may be gone afterwards. */
  const atOnce = (call: Promise<unknown>, text: string) =>
    void done(asChange(call), text)
      .catch((error: unknown) => announce({ kind: 'bad', text: errorText(error) }))
      .finally(findFocus);
  const enable = () =>
    atOnce(answered(api.POST('/accounts/{accountId}/enable', { params })), t('enabled', { email }));
  const unlock = () =>
    atOnce(answered(api.POST('/accounts/{accountId}/unlock', { params })), t('unlocked', { email }));

  const actions = [
    ...(account.locked ? [{ id: 'account-unlock', label: t('unlock'), run: unlock }] : []),
    // One button, which keeps the focus when it is pressed.
    account.disabled
      ? { id: 'account-state', label: t('enable'), run: enable }
      : { id: 'account-state', label: t('disable'), run: () => setQuestion('disable') },
    ...(account.secondFactor
      ? [{ id: 'account-factor', label: t('removeFactor'), run: () => setQuestion('second-factor') }]
      : []),
    { id: 'account-reset', label: t('reset'), run: () => setQuestion('reset') },
    { id: 'account-edit', label: t('edit'), run: () => setQuestion('edit') },
  ];
  useCommands(actions);
  return (
    <>
      {actions.map(({ id, label, run }) => (
        <Button key={id} variant="default" onClick={run}>
          {label}
        </Button>
      ))}
      <Modal opened={question === 'edit'} onClose={close} title={t('editTitle', { email })}>
        <EditAccount account={account} onClose={close} />
      </Modal>
      <Modal opened={question === 'reset'} onClose={close} title={t('resetTitle', { email })}>
        <ResetPassword account={account} onClose={close} onReset={setIssued} />
      </Modal>
      <ConfirmDialog
        opened={question === 'disable'}
        title={t('disableTitle', { email })}
        text={t('disableText', { count: account.liveSessions })}
        action={t('disable')}
        isDangerous
        onConfirm={() =>
          done(answered(api.POST('/accounts/{accountId}/disable', { params })), t('disabled', { email }))
        }
        onClose={close}
      />
      <ConfirmDialog
        opened={question === 'second-factor'}
        title={t('removeFactorTitle', { email })}
        text={t('removeFactorText')}
        action={t('removeFactorAction')}
        isDangerous
        onConfirm={() =>
          done(
            answered(api.POST('/accounts/{accountId}/remove-second-factor', { params })),
            t('factorRemoved', { email }),
          )
        }
        onClose={close}
      />
      <SecretOnce
        title={t('issuedTitle', { email })}
        secrets={issued === undefined ? undefined : secretsOf(issued)}
        onClose={() => setIssued(undefined)}
      />
    </>
  );
}

interface ResetPasswordProperties {
  account: Account;
  onClose: () => void;
  onReset: (issued: Issued) => void;
}

/** A new password for an account, or a link to set one. */
function ResetPassword({ account, onClose, onReset }: ResetPasswordProperties) {
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
