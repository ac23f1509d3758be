/** Changes the settings of a connection. They hold from the next message on. Contract: WEB-44. */
import { Button, Modal, NativeSelect, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../../api/api.ts';
import { queries } from '../../../app/queries.ts';
import { FormButtons } from '../../../blocks/dialogs/form-buttons.tsx';
import { UnsavedChanges } from '../../../blocks/dialogs/unsaved-changes.tsx';
import { announce } from '../../../blocks/page/announcements.tsx';
import { changedOf, withChanges } from '../../../blocks/page/form-changes.ts';
import { useServerForm } from '../../../blocks/page/server-form.ts';
import { ServerFormFields } from '../../../blocks/page/server-form-fields.tsx';
import { FacilityChoice } from '../../../shell/facility-choice.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { PURPOSES, type Purpose, usePurposeName } from '../../patients/purpose.tsx';
import { type Connection, readConnection } from '../exchange-data.ts';
import { ABOUT_CONNECTION } from './about-connection.ts';

export function EditConnection({ connection }: { connection: Connection }) {
  const t = useTranslations('exchangeConnections');
  const [opened, setOpened] = useState(false);
  const close = () => setOpened(false);
  return (
    <>
      <Button variant="default" size="xs" onClick={() => setOpened(true)}>
        {t('edit')}
      </Button>
      <Modal opened={opened} onClose={close} title={t('settings')}>
        <Form connection={connection} onClose={close} />
      </Modal>
    </>
  );
}

function Form({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const t = useTranslations('exchangeConnections');
  const nameOf = usePurposeName();
  const navigate = useNavigate();
  const { facility } = useSession();
  // null: all of the organisation, also later ones. That is for the operator to change.
  const [facilityIds, setFacilityIds] = useState(connection.facilityIds);
  // As it was when the form was opened.
  const [before] = useState(connection);
  const form = useServerForm({
    values: {
      name: connection.name,
      address: connection.address,
      clientId: connection.clientId,
      callbackHeader: connection.callbackHeader,
      identifierSystem: connection.identifierSystem,
      purposeOfUse: connection.purposeOfUse,
      maxInFlight: String(connection.maxInFlight),
      timeoutMs: String(connection.timeoutMs),
    },
    aboutField: ABOUT_CONNECTION,
    submit: async ({ maxInFlight, timeoutMs, purposeOfUse, ...rest }) => {
      const wanted = {
        ...rest,
        purposeOfUse: purposeOfUse as Purpose,
        maxInFlight: Number(maxInFlight),
        timeoutMs: Number(timeoutMs),
      };
      const body = { ...changedOf(before, wanted), ...(await changedFacilities()) };
      const params = { path: { connectionId: connection.id } };
      if (Object.keys(body).length > 0)
        await answered(api.PATCH('/exchange/connections/{connectionId}', { params, body }));
      // One that does not cover the chosen facility any more has no page in it.
      const left = facilityIds?.includes(facility?.id ?? '') === false ? facility : undefined;
      if (left !== undefined) await navigate({ to: '/exchange/connections' });
      // Before the form closes: opened again, it begins with what is stored now.
      await queries.invalidateQueries({ queryKey: ['exchange-connections'] });
      const text = left === undefined ? t('saved') : t('savedElsewhere', { facility: left.name });
      announce({ kind: 'good', text });
      onClose();
    },
  });
  async function changedFacilities(): Promise<{ facilityIds?: string[] }> {
    if (facilityIds === null || String(facilityIds) === String(before.facilityIds)) return {};
    const now = await queries.fetchQuery({ ...readConnection(before.id), staleTime: 0 });
    if (now.facilityIds === null) return {};
    const list = { before: before.facilityIds ?? [], wanted: facilityIds };
    return { facilityIds: withChanges(now.facilityIds, list) };
  }
  return (
    <ServerFormFields form={form} gap="sm">
      <UnsavedChanges areThere={form.isUnsaved} />
      <TextInput label={t('name')} data-autofocus required {...form.field('name')} />
      <TextInput label={t('address')} description={t('addressHelp')} required {...form.field('address')} />
      <TextInput label={t('clientId')} required {...form.field('clientId')} />
      {facilityIds === null ? undefined : (
        <FacilityChoice
          label={t('facilities')}
          description={t('facilitiesEditHelp')}
          chosen={facilityIds}
          onChange={setFacilityIds}
        />
      )}
      <NativeSelect
        label={t('purpose')}
        description={t('purposeHelp')}
        data={PURPOSES.map((value) => ({ value, label: nameOf(value) }))}
        {...form.field('purposeOfUse')}
      />
      <TextInput
        label={t('callbackHeader')}
        description={t('callbackHeaderHelp')}
        required
        {...form.field('callbackHeader')}
      />
      <TextInput
        label={t('identifierSystem')}
        description={t('identifierSystemHelp')}
        required
        {...form.field('identifierSystem')}
      />
      <TextInput label={t('maxInFlight')} type="number" required {...form.field('maxInFlight')} />
      <TextInput label={t('timeoutMs')} type="number" required {...form.field('timeoutMs')} />
      <FormButtons
        action={t('save')}
        isSending={form.isSending}
        disabled={facilityIds?.length === 0}
        onCancel={onClose}
      />
    </ServerFormFields>
  );
}
