/** The email, the role and the facilities of an account, changed together. Contract: WEB-22. */
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { queries } from '../../app/queries.ts';
import { FormButtons } from '../../blocks/dialogs/form-buttons.tsx';
import { UnsavedChanges } from '../../blocks/dialogs/unsaved-changes.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { changedOf, withChanges } from '../../blocks/page/form-changes.ts';
import { useServerForm } from '../../blocks/page/server-form.ts';
import { ServerFormFields } from '../../blocks/page/server-form-fields.tsx';
import { ABOUT_TAKEN_ADDRESS, type Account, readAccount, readAccountsAgain } from './account-data.ts';
import { EmailField, FacilitiesField, RoleField } from './account-fields.tsx';

export function EditAccount({ account, onClose }: { account: Account; onClose: () => void }) {
  const t = useTranslations('accounts');
  // As it was when the form was opened.
  const [before] = useState(account);
  const [facilityIds, setFacilityIds] = useState(facilitiesOf(before));
  const form = useServerForm({
    values: { email: before.email, roleId: before.role.id },
    aboutField: { email: ABOUT_TAKEN_ADDRESS },
    submit: async ({ email, roleId }) => {
      // What stays needs no right to give it.
      const body = {
        ...changedOf({ email: before.email, roleId: before.role.id }, { email, roleId }),
        ...(facilityIds.join() === facilitiesOf(before).join() ? {} : { facilityIds: await facilities() }),
      };
      const params = { path: { accountId: before.userId } };
      if (Object.keys(body).length > 0) await answered(api.PATCH('/accounts/{accountId}', { params, body }));
      await readAccountsAgain();
      announce({ kind: 'good', text: t('changed', { email }) });
      onClose();
    },
  });
  async function facilities(): Promise<string[]> {
    const now = facilitiesOf(await queries.fetchQuery({ ...readAccount(before.userId), staleTime: 0 }));
    const changed = withChanges(now, { before: facilitiesOf(before), wanted: facilityIds });
    // The default one, too, is sent where it was changed here.
    const first = facilityIds[0] === before.defaultFacilityId ? now[0] : undefined;
    return first !== undefined && changed.includes(first)
      ? [first, ...changed.filter((id) => id !== first)]
      : changed;
  }
  return (
    <ServerFormFields form={form}>
      <UnsavedChanges areThere={form.isUnsaved} />
      <EmailField {...form.field('email')} />
      <RoleField value={form.values.roleId} onChange={(roleId) => form.set({ roleId })} />
      <FacilitiesField chosen={facilityIds} onChange={setFacilityIds} />
      <FormButtons
        action={t('save')}
        isSending={form.isSending}
        disabled={facilityIds.length === 0}
        onCancel={onClose}
      />
    </ServerFormFields>
  );
}

/** The default one first. */
function facilitiesOf({ facilityIds, defaultFacilityId }: Account): string[] {
  return [
    ...(defaultFacilityId === null ? [] : [defaultFacilityId]),
    ...facilityIds.filter((id) => id !== defaultFacilityId),
  ];
}
