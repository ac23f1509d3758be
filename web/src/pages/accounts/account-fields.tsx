/** The address of an account, and what it may do and where: its role and its facilities. Contract: WEB-21. */
import { Checkbox, NativeSelect, Radio, Stack, TextInput, type TextInputProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { FacilityChoice } from '../../shell/facility-choice.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { type AccountKind, useRoles } from './account-data.ts';

/** The address is another's: a browser does not fill in the person's own. */
export function EmailField(properties: TextInputProps) {
  const t = useTranslations('accounts');
  return (
    <TextInput label={t('email')} type="email" autoComplete="off" required data-autofocus {...properties} />
  );
}

interface RoleFieldProperties {
  value: string;
  error?: string;
  onChange: (roleId: string) => void;
}

/** A role with a permission that the person lacks is listed, and cannot be chosen. */
export function RoleField({ value, error, onChange }: RoleFieldProperties) {
  const t = useTranslations('accounts');
  const { may, session } = useSession();
  const { data: roles = [], isPending } = useRoles();
  const isMine = (permissions: readonly string[]) =>
    permissions.every((one) => session.permissions.includes(one));
  const link = may('roles.manage') ? <Link to="/roles">{t('toRoles')}</Link> : undefined;
  return (
    <NativeSelect
      label={t('role')}
      description={
        <>
          {t('roleHelp')} {link}
        </>
      }
      required
      value={value}
      error={error}
      disabled={isPending}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[
        { value: '', label: t('chooseRole'), disabled: true },
        ...roles.map(({ id, name, permissions }) => ({
          value: id,
          label: isMine(permissions) ? name : t('roleNotYours', { name }),
          disabled: !isMine(permissions) && id !== value,
        })),
      ]}
    />
  );
}

interface FacilitiesFieldProperties {
  /** The default one first. */
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** Nothing to choose where the person has one facility. */
export function FacilitiesField({ chosen, onChange }: FacilitiesFieldProperties) {
  const t = useTranslations('accounts');
  const { session } = useSession();
  const { facilities } = session;
  if (facilities.length < 2) return undefined;
  return (
    <>
      <FacilityChoice
        label={t('facilities')}
        description={t('facilitiesHelp')}
        chosen={chosen}
        onChange={onChange}
      />
      {chosen.length < 2 ? undefined : (
        <NativeSelect
          label={t('defaultFacility')}
          description={t('defaultFacilityHelp')}
          value={chosen[0] ?? ''}
          data={facilities
            .filter(({ id }) => chosen.includes(id))
            .map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) => {
            const first = event.currentTarget.value;
            onChange([first, ...chosen.filter((id) => id !== first)]);
          }}
        />
      )}
    </>
  );
}

type PasswordKind = 'generated' | 'setup-link';

/** How an account gets its password: what is chosen, and `body` as the service takes it. */
export function usePasswordChoice(userType: AccountKind) {
  const [password, setPassword] = useState<PasswordKind>('generated');
  // A person chooses a password of their own; a system would only be stopped by having to.
  const [mustChange, setMustChange] = useState(userType === 'STAFF');
  const body = { password, mustChangePassword: password === 'generated' ? mustChange : undefined };
  return { password, setPassword, mustChange, setMustChange, body };
}

export function PasswordField({ choice }: { choice: ReturnType<typeof usePasswordChoice> }) {
  const t = useTranslations('accounts');
  const { password, setPassword, mustChange, setMustChange } = choice;
  return (
    <>
      <Radio.Group
        label={t('password')}
        value={password}
        onChange={(value) => setPassword(value as PasswordKind)}
      >
        <Stack gap="xs" mt="xs">
          <Radio size="xs" value="generated" label={t('generated')} description={t('generatedHelp')} />
          <Radio size="xs" value="setup-link" label={t('setupLink')} description={t('setupLinkHelp')} />
        </Stack>
      </Radio.Group>
      {password === 'setup-link' ? undefined : (
        <Checkbox
          size="xs"
          label={t('mustChange')}
          description={t('mustChangeHelp')}
          checked={mustChange}
          onChange={(event) => setMustChange(event.currentTarget.checked)}
        />
      )}
    </>
  );
}
