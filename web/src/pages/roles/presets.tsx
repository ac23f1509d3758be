/** Permissions that often go together, to begin with. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useSession } from '../../shell/session-context.tsx';
import css from './presets.module.css';
import type { Preset } from './role-data.ts';

const KNOWN = ['read-only', 'laboratory-partner', 'full'] as const;

interface PresetsProperties {
  presets: readonly Preset[];
  onChoose: (permissions: string[]) => void;
}

export function Presets({ presets, onChoose }: PresetsProperties) {
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
