/** The name, the permissions and the second factor of a role. Contract: WEB-27, WEB-76. */
import { Button, Checkbox, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { useTyped } from '../../app/unsaved-forms.ts';
import { UnsavedChanges } from '../../blocks/dialogs/unsaved-changes.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { changedOf, withChanges } from '../../blocks/page/form-changes.ts';
import { Section } from '../../blocks/page/section.tsx';
import { SendButton } from '../../blocks/page/send-button.tsx';
import { useServerForm } from '../../blocks/page/server-form.ts';
import { CallFault } from '../../blocks/states/fault.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { type Role, readRole } from '../accounts/account-data.ts';
import { PermissionTree } from './permission-tree.tsx';
import { type PermissionItem, type PermissionName, type Preset, readRolesAgain } from './role-data.ts';
import css from './role-editor.module.css';

interface RoleEditorProperties {
  /** Without one, a new role. */
  role?: Role;
  catalogue: { items: readonly PermissionItem[]; presets: readonly Preset[] };
}

export function RoleEditor({ role, catalogue }: RoleEditorProperties) {
  const t = useTranslations('role');
  const navigate = useNavigate();
  const { may } = useSession();
  const [before, setBefore] = useState<Stored | undefined>(role);
  const [chosen, setChosen] = useState<readonly string[]>(role?.permissions ?? []);
  const [requiresSecondFactor, setRequires] = useState(role?.requiresSecondFactor ?? false);
  const isManager = may('roles.manage');
  const isReadOnly = !isManager || role?.permissions.some((one) => !may(one)) === true;

  async function save(name: string) {
    const wanted = { name, permissions: chosen, requiresSecondFactor };
    const saved = before === undefined ? await create(wanted) : await change(before, wanted);
    setBefore(role === undefined ? undefined : saved);
    setChosen(saved.permissions);
    setRequires(saved.requiresSecondFactor);
    form.set({ name: saved.name });
    await readRolesAgain();
    announce({ kind: 'good', text: t('saved', { name: saved.name }) });
    await navigate({ to: '/roles/$roleId', params: { roleId: saved.id }, ignoreBlocker: true });
  }
  const form = useServerForm({
    values: { name: role?.name ?? '' },
    aboutField: { name: ['This organisation already has a role', 'Cette organisation a déjà un rôle'] },
    submit: ({ name }) => save(name),
  });
  const isChanged =
    form.values.name !== (before?.name ?? '') ||
    requiresSecondFactor !== (before?.requiresSecondFactor ?? false) ||
    !isSameSet({ before: before?.permissions ?? [], wanted: chosen });
  useTyped(isChanged);
  return (
    <form onSubmit={form.onSubmit}>
      <UnsavedChanges areThere={isChanged} />
      <Section title={t('properties')} text={reasonOf()}>
        <TextInput
          label={t('name')}
          description={t('nameHelp')}
          required
          maxLength={200}
          maw="28rem"
          mb="md"
          disabled={isReadOnly}
          {...form.field('name')}
        />
        <Checkbox
          size="xs"
          label={t('requires')}
          description={t('requiresHelp')}
          checked={requiresSecondFactor}
          disabled={isReadOnly}
          onChange={(event) => setRequires(event.currentTarget.checked)}
        />
      </Section>
      <Section title={t('permissions')} text={t('permissionsText')}>
        {isReadOnly ? undefined : <Presets presets={catalogue.presets} onChoose={setChosen} />}
        <PermissionTree
          items={catalogue.items}
          chosen={chosen}
          isReadOnly={isReadOnly}
          onChange={setChosen}
        />
        {isReadOnly ? undefined : (
          <div className={css.bar}>
            <div className={css.fault}>
              <CallFault error={form.error} />
            </div>
            <span>{t('chosen', { count: chosen.length })}</span>
            <SendButton type="submit" isSending={form.isSending} disabled={chosen.length === 0}>
              {role === undefined ? t('create') : t('save')}
            </SendButton>
          </div>
        )}
      </Section>
    </form>
  );

  /** Why nothing here can be changed. */
  function reasonOf(): string | undefined {
    if (!isManager) return t('notManager');
    return isReadOnly ? t('strongerThanYou') : undefined;
  }
}

type Stored = Omit<Role, 'holders'>;
type Wanted = Pick<Role, 'name' | 'requiresSecondFactor'> & { permissions: readonly string[] };

function create({ permissions, ...rest }: Wanted): Promise<Stored> {
  return answered(
    api.POST('/roles', { body: { ...rest, permissions: [...permissions] as PermissionName[] } }),
  );
}

async function change(before: Stored, { name, permissions, requiresSecondFactor }: Wanted): Promise<Stored> {
  const now = (await readRole(before.id)) ?? before;
  const list = { before: before.permissions, wanted: permissions };
  const body = {
    ...changedOf(before, { name, requiresSecondFactor }),
    ...(isSameSet(list) ? {} : { permissions: withChanges(now.permissions, list) as PermissionName[] }),
  };
  if (Object.keys(body).length === 0) return now;
  return answered(api.PATCH('/roles/{roleId}', { params: { path: { roleId: before.id } }, body }));
}

function isSameSet({ before, wanted }: { before: readonly string[]; wanted: readonly string[] }): boolean {
  return before.length === wanted.length && before.every((one) => wanted.includes(one));
}

const KNOWN = ['read-only', 'laboratory-partner', 'full'] as const;

interface PresetsProperties {
  presets: readonly Preset[];
  onChoose: (permissions: string[]) => void;
}

/** Permissions that often go together, to begin with. */
function Presets({ presets, onChoose }: PresetsProperties) {
  const t = useTranslations('role');
  const { may } = useSession();
  const [left, setLeft] = useState(0);
  const nameOf = (name: string) => {
    const known = KNOWN.find((one) => one === name);
    return known === undefined ? name : t(`presets.${known}`);
  };
  function choose(permissions: readonly string[]) {
    const mine = permissions.filter((name) => may(name));
    setLeft(permissions.length - mine.length);
    onChoose(mine);
  }
  return (
    <div className={css.presets}>
      <span>{t('beginWith')}</span>
      {presets.map(({ name, permissions }) => (
        <Button key={name} type="button" variant="default" size="xs" onClick={() => choose(permissions)}>
          {nameOf(name)}
        </Button>
      ))}
      <span role="status">{left === 0 ? '' : t('leftOut', { count: left })}</span>
    </div>
  );
}
