/** The address of an account, and what it may do and where: its role and its facilities. Contract: WEB-21. */
import { Checkbox, NativeSelect, Radio, Stack, TextInput, type TextInputProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { useSession } from '../../shell/session-context.tsx';
import { useRoles } from './account-data.ts';

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
      <Checkbox.Group
        label={t('facilities')}
        description={t('facilitiesHelp')}
        value={[...chosen]}
        onChange={onChange}
      >
        <Stack gap="xs" mt="xs">
          {facilities.map(({ id, name }) => (
            <Checkbox key={id} size="xs" value={id} label={name} />
          ))}
        </Stack>
      </Checkbox.Group>
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

export type PasswordKind = 'generated' | 'setup-link';

interface PasswordFieldProperties {
  kind: PasswordKind;
  onKind: (kind: PasswordKind) => void;
  mustChange: boolean;
  onMustChange: (mustChange: boolean) => void;
}

export function PasswordField({ kind, onKind, mustChange, onMustChange }: PasswordFieldProperties) {
  const t = useTranslations('accounts');
  return (
    <>
      <Radio.Group label={t('password')} value={kind} onChange={(value) => onKind(value as PasswordKind)}>
        <Stack gap="xs" mt="xs">
          <Radio size="xs" value="generated" label={t('generated')} description={t('generatedHelp')} />
          <Radio size="xs" value="setup-link" label={t('setupLink')} description={t('setupLinkHelp')} />
        </Stack>
      </Radio.Group>
      {kind === 'setup-link' ? undefined : (
        <Checkbox
          size="xs"
          label={t('mustChange')}
          description={t('mustChangeHelp')}
          checked={mustChange}
          onChange={(event) => onMustChange(event.currentTarget.checked)}
        />
      )}
    </>
  );
}
