/** What is done to second factors: each asks for the password, and new recovery codes are handed on, to be shown once. */
import { Modal, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useTranslations } from 'use-intl';
import { send } from '../../api/api.ts';
import { findFocus } from '../../app/focus.ts';
import { announce } from '../../blocks/page/announcements.tsx';
import { AddApp } from '../../second-factor/add-app.tsx';
import { AddPasskey } from '../../second-factor/add-passkey.tsx';
import { PasswordStep } from '../../second-factor/password-step.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { type Passkey, readOwnAgain } from './own-account.ts';

export type FactorTask =
  | { kind: 'add-app' | 'add-passkey' | 'remove-app' | 'renew' }
  | { kind: 'remove-passkey'; passkey: Passkey };

interface FactorDialogProperties {
  task: FactorTask;
  onClose: () => void;
  /** They count already, also where the dialog was left before they came. */
  onCodes: (codes: readonly string[]) => void;
}

export function FactorDialog({ task, onClose, onCodes }: FactorDialogProperties) {
  const t = useTranslations('myAccount');
  // It is gone as a whole, and so cannot give the focus back itself.
  useEffect(() => findFocus, []);

  async function finish(text?: string) {
    if (text !== undefined) announce({ kind: 'good', text });
    onClose();
    await readOwnAgain();
  }
  const onAdded = (text: string) => (given: readonly string[] | undefined) => {
    if (given === undefined) return void finish(text);
    announce({ kind: 'good', text });
    onCodes(given);
  };
  const remove = async (path: string, password: string) => {
    await send('DELETE', path, { password });
    await finish(t('removed'));
  };
  const titles: Record<FactorTask['kind'], string> = {
    'add-app': t('setUpApp'),
    'add-passkey': t('addPasskey'),
    'remove-app': t('removeNamed', { name: t('app') }),
    'remove-passkey': t('removeNamed', { name: task.kind === 'remove-passkey' ? task.passkey.name : '' }),
    renew: t('renew'),
  };
  return (
    <Modal opened onClose={onClose} title={titles[task.kind]}>
      {task.kind === 'add-app' ? <AddApp onAdded={onAdded(t('appAdded'))} /> : undefined}
      {task.kind === 'add-passkey' ? <AddPasskey onAdded={onAdded(t('passkeyAdded'))} /> : undefined}
      {task.kind === 'renew' ? (
        <>
          <Text mb="md">{t('renewText')}</Text>
          <PasswordStep
            asksForSecret
            submit={async (password) => {
              const answer = await send('POST', '/second-factor/recovery-codes', { password });
              onCodes(((await answer.json()) as { recoveryCodes: string[] }).recoveryCodes);
            }}
          />
        </>
      ) : undefined}
      {task.kind === 'remove-app' ? (
        <Removal text={t('removeAppText')} submit={(password) => remove('/second-factor/totp', password)} />
      ) : undefined}
      {task.kind === 'remove-passkey' ? (
        <Removal
          text={t('removePasskeyText')}
          submit={(password) => remove(`/second-factor/passkeys/${task.passkey.id}`, password)}
        />
      ) : undefined}
    </Modal>
  );
}

function Removal({ text, submit }: { text: string; submit: (password: string) => Promise<unknown> }) {
  const t = useTranslations('myAccount');
  const { required } = useSession().session.secondFactor;
  return (
    <>
      <Text mb="md">{text}</Text>
      {required ? <Text mb="md">{t('requiredText')}</Text> : undefined}
      <PasswordStep submit={submit} />
    </>
  );
}
