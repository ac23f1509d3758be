/** A code with its text and system. */
import { useTranslations } from 'use-intl';
import css from './coded.module.css';
import { systemName } from './draft.ts';

export function Coded(properties: { code: string; display: string | null; system: string }) {
  const t = useTranslations('terminology');
  const { code, display, system } = properties;
  const isKnown = systemName(system) !== system;
  return (
    <span>
      <span className={css.code}>{code}</span>
      {isKnown ? <span className={css.name}>{systemName(system)}</span> : undefined}
      {display === null ? undefined : <span className={css.text}>{display}</span>}
      {isKnown ? undefined : (
        <span className={css.system} title={system}>
          {system === '' ? t('noSystem') : system}
        </span>
      )}
    </span>
  );
}
