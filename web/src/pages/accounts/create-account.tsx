/** A new account of a system or a person; how it signs in is handed on, to be shown once. Contract: WEB-21, WEB-25. */
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { FormButtons } from '../../blocks/dialogs/form-buttons.tsx';
import { UnsavedChanges } from '../../blocks/dialogs/unsaved-changes.tsx';
import { useServerForm } from '../../blocks/page/server-form.ts';
import { ServerFormFields } from '../../blocks/page/server-form-fields.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { ABOUT_TAKEN_ADDRESS, type AccountKind, type Issued, readAccountsAgain } from './account-data.ts';
import {
  EmailField,
  FacilitiesField,
  PasswordField,
  RoleField,
  usePasswordChoice,
} from './account-fields.tsx';

interface CreateAccountProperties {
  kind: AccountKind;
  onClose: () => void;
  onCreated: (issued: Issued) => void;
}

export function CreateAccount({ kind: userType, onClose, onCreated }: CreateAccountProperties) {
  const t = useTranslations('accounts');
  const { facility } = useSession();
  const [facilityIds, setFacilityIds] = useState<string[]>(facility === undefined ? [] : [facility.id]);
  const password = usePasswordChoice(userType);
  const form = useServerForm({
    values: { email: '', roleId: '' },
    aboutField: { email: ABOUT_TAKEN_ADDRESS },
    asksForSecret: true,
    submit: async ({ email, roleId }) => {
      const issued = await answered(
        api.POST('/accounts', { body: { email, userType, roleId, facilityIds, ...password.body } }),
      );
      // Before the list is read again, which may take long: the password or link is shown only once.
      onClose();
      onCreated(issued);
      void readAccountsAgain();
    },
  });
  return (
    <ServerFormFields form={form}>
      <UnsavedChanges areThere={form.isUnsaved} />
      <EmailField description={t(`${userType}.emailHelp`)} {...form.field('email')} />
      <RoleField value={form.values.roleId} onChange={(roleId) => form.set({ roleId })} />
      <FacilitiesField chosen={facilityIds} onChange={setFacilityIds} />
      <PasswordField choice={password} />
      <FormButtons
        action={t('createSubmit')}
        isSending={form.isSending}
        disabled={form.values.roleId === '' || facilityIds.length === 0}
        onCancel={onClose}
      />
    </ServerFormFields>
  );
}
