/** Connects to an exchange. The secrets of the new connection are handed on, to be shown once. Contract: WEB-43. */
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../../api/api.ts';
import { queries } from '../../../app/queries.ts';
import { FormButtons } from '../../../blocks/dialogs/form-buttons.tsx';
import type { Secret } from '../../../blocks/dialogs/secret-once.tsx';
import { UnsavedChanges } from '../../../blocks/dialogs/unsaved-changes.tsx';
import { useServerForm } from '../../../blocks/page/server-form.ts';
import { ServerFormFields } from '../../../blocks/page/server-form-fields.tsx';
import { FacilityChoice } from '../../../shell/facility-choice.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { ABOUT_CONNECTION } from './about-connection.ts';
import { useSecretNames } from './secret-names.ts';

interface CreateConnectionProperties {
  onClose: () => void;
  onCreated: (secrets: readonly Secret[]) => void;
}

export function CreateConnection({ onClose, onCreated }: CreateConnectionProperties) {
  const t = useTranslations('exchangeConnections');
  const named = useSecretNames();
  const { facility } = useSession();
  const [facilityIds, setFacilityIds] = useState<string[]>(facility === undefined ? [] : [facility.id]);
  const form = useServerForm({
    values: { name: '', address: '', clientId: '' },
    aboutField: ABOUT_CONNECTION,
    asksForSecret: true,
    submit: async (values) => {
      const made = await answered(api.POST('/exchange/connections', { body: { ...values, facilityIds } }));
      // Before the list is read again, which may take long: the secrets are shown only once.
      onClose();
      onCreated(named(made));
      void queries.invalidateQueries({ queryKey: ['exchange-connections'] });
    },
  });
  return (
    <ServerFormFields form={form}>
      <UnsavedChanges areThere={form.isUnsaved} />
      <TextInput
        label={t('name')}
        description={t('nameHelp')}
        required
        data-autofocus
        {...form.field('name')}
      />
      <TextInput
        label={t('address')}
        description={t('addressHelp')}
        placeholder="https://exchange.example.org/patients"
        required
        {...form.field('address')}
      />
      <TextInput label={t('clientId')} description={t('clientIdHelp')} required {...form.field('clientId')} />
      <FacilityChoice
        label={t('facilities')}
        description={t('facilitiesHelp')}
        chosen={facilityIds}
        onChange={setFacilityIds}
      />
      <FormButtons
        action={t('createSubmit')}
        isSending={form.isSending}
        disabled={facilityIds.length === 0}
        onCancel={onClose}
      />
    </ServerFormFields>
  );
}
