/** What can be done with a connection: test it, rotate its secrets, activate the new one, enable and disable. Contract: WEB-44. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../../api/api.ts';
import { asChange, queries } from '../../../app/queries.ts';
import { useCommands } from '../../../blocks/dialogs/commands.ts';
import { ConfirmDialog } from '../../../blocks/dialogs/confirm-dialog.tsx';
import { announce } from '../../../blocks/page/announcements.tsx';
import { useErrorText } from '../../../blocks/states/error-text.ts';
import type { Connection } from '../exchange-data.ts';
import { hasWaitingSecret } from './connection-state.tsx';
import { RotateSecrets } from './rotate-secrets.tsx';
import { TestConnection, useConnectionTest } from './test-connection.tsx';

type Question = 'rotate' | 'activate' | 'disable';

export function ConnectionActions({ connection }: { connection: Connection }) {
  const t = useTranslations('exchangeConnections');
  const errorText = useErrorText();
  const [question, setQuestion] = useState<Question>();
  const params = { path: { connectionId: connection.id } };
  const close = () => setQuestion(undefined);
  const test = useConnectionTest(connection);
  const isWaiting = hasWaitingSecret(connection);

  async function done(call: Promise<unknown>, text: string) {
    await call;
    await queries.invalidateQueries({ queryKey: ['exchange-connections'] });
    announce({ kind: 'good', text });
  }
  const enable = () =>
    done(
      asChange(answered(api.POST('/exchange/connections/{connectionId}/enable', { params }))),
      t('enabled'),
    ).catch((error: unknown) => announce({ kind: 'bad', text: errorText(error) }));
  const actions = [
    // One button, which keeps the focus when it is pressed.
    connection.enabled
      ? { id: 'connection-state', label: t('disable'), run: () => setQuestion('disable') }
      : { id: 'connection-state', label: t('enable'), run: () => void enable() },
    { id: 'connection-rotate', label: t('rotate'), run: () => setQuestion('rotate') },
    // The service tests no connection that is disabled.
    ...(connection.enabled ? [{ id: 'connection-test', label: t('test'), run: () => test.mutate() }] : []),
    ...(isWaiting
      ? [{ id: 'connection-activate', label: t('activate'), run: () => setQuestion('activate') }]
      : []),
  ];
  useCommands(actions);
  return (
    <>
      {actions.map(({ id, label, run }) => (
        <Button key={id} variant={id === 'connection-activate' ? 'filled' : 'default'} onClick={run}>
          {label}
        </Button>
      ))}
      <ConfirmDialog
        opened={question === 'disable'}
        title={t('disableTitle', { name: connection.name })}
        text={t('disableText')}
        action={t('disable')}
        isDangerous
        onConfirm={() =>
          done(answered(api.POST('/exchange/connections/{connectionId}/disable', { params })), t('disabled'))
        }
        onClose={close}
      />
      <ConfirmDialog
        opened={question === 'activate'}
        title={t('activateTitle')}
        text={t('activateText')}
        action={t('activateAction')}
        onConfirm={() =>
          done(
            answered(api.POST('/exchange/connections/{connectionId}/activate-secret', { params })),
            t('activated'),
          )
        }
        onClose={close}
      />
      <TestConnection name={connection.name} test={test} />
      <RotateSecrets connectionId={connection.id} opened={question === 'rotate'} onClose={close} />
    </>
  );
}
