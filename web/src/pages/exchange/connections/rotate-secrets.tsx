/** New secrets for a connection, shown once, with what to do next. Contract: WEB-44. */
import { Modal, NativeSelect, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../../api/api.ts';
import { queries } from '../../../app/queries.ts';
import { FormButtons } from '../../../blocks/dialogs/form-buttons.tsx';
import { type Secret, SecretOnce } from '../../../blocks/dialogs/secret-once.tsx';
import { useServerForm } from '../../../blocks/page/server-form.ts';
import { ServerFormFields } from '../../../blocks/page/server-form-fields.tsx';
import { useSecretNames } from './secret-names.ts';

interface RotateSecretsProperties {
  connectionId: string;
  opened: boolean;
  onClose: () => void;
}

interface Rotated {
  secrets: readonly Secret[];
  text: string;
}

const SECONDS_OF_HOUR = 3_600;

export function RotateSecrets({ connectionId, opened, onClose }: RotateSecretsProperties) {
  const t = useTranslations('exchangeConnections');
  const [rotated, setRotated] = useState<Rotated>();
  return (
    <>
      <Modal opened={opened} onClose={onClose} title={t('rotate')}>
        <Form {...{ connectionId, onClose }} onRotated={setRotated} />
      </Modal>
      <SecretOnce
        title={t('keepTitle')}
        text={rotated?.text}
        secrets={rotated?.secrets}
        onClose={() => setRotated(undefined)}
      />
    </>
  );
}

interface FormProperties extends Omit<RotateSecretsProperties, 'opened'> {
  onRotated: (rotated: Rotated) => void;
}

function Form({ connectionId, onClose, onRotated }: FormProperties) {
  const t = useTranslations('exchangeConnections');
  const named = useSecretNames();
  const form = useServerForm({
    values: { direction: '', overlapHours: '24' },
    aboutField: { overlapHours: ['overlapSeconds '] },
    asksForSecret: true,
    submit: async ({ direction, overlapHours }) => {
      const made = await answered(
        api.POST('/exchange/connections/{connectionId}/rotate-secret', {
          params: { path: { connectionId } },
          body: {
            direction: direction === '' ? undefined : (direction as 'outbound' | 'callback'),
            overlapSeconds: Math.round(Number(overlapHours) * SECONDS_OF_HOUR),
          },
        }),
      );
      // Before the list is read again, which may take long: the secrets are shown only once.
      onClose();
      const texts = [
        t('rotatedText'),
        ...(made.outboundSecret !== undefined && made.outboundActiveFrom === null ? [t('rotatedWaits')] : []),
        ...(made.discardedWaiting === true ? [t('rotatedDiscarded')] : []),
      ];
      onRotated({ secrets: named(made), text: texts.join(' ') });
      void queries.invalidateQueries({ queryKey: ['exchange-connections'] });
    },
  });
  const choices = [
    { value: '', label: t('rotateBoth') },
    { value: 'outbound', label: t('rotateOutbound') },
    { value: 'callback', label: t('rotateCallback') },
  ];
  return (
    <ServerFormFields form={form}>
      <Text>{t('rotateText')}</Text>
      <NativeSelect label={t('rotateWhich')} data={choices} data-autofocus {...form.field('direction')} />
      <TextInput
        label={t('overlap')}
        description={t('overlapHelp')}
        type="number"
        min={0}
        max={2_160}
        required
        {...form.field('overlapHours')}
      />
      <FormButtons action={t('rotateSubmit')} isSending={form.isSending} onCancel={onClose} />
    </ServerFormFields>
  );
}
