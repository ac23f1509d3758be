/** A code with its text and system. */
import { useTranslations } from 'use-intl';
import css from './coded.module.css';
import { systemName } from './draft.ts';

export function Coded(properties: { code: string; display: string | null; system: string }) {
  const t = useTranslations('terminology');
  const { code, display, system } = properties;
  return (
    <span>
      <span className={css.code}>{code}</span>
      {display === null ? undefined : <span className={css.text}>{display}</span>}
      <span className={css.system} title={system}>
        {system === '' ? t('noSystem') : systemName(system)}
      </span>
    </span>
  );
}
