/** What a value was, struck, and what it becomes. For those who do not see it, words say which is which. */
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import css from './changed-value.module.css';

export function Before({ children }: { children: ReactNode }) {
  const t = useTranslations('blocks');
  return (
    <del className={css.before}>
      <span className="visually-hidden">{t('before')} </span>
      {children}
    </del>
  );
}

export function After({ children }: { children: ReactNode }) {
  const t = useTranslations('blocks');
  return (
    <ins className={css.after}>
      <span className="visually-hidden">{t('after')} </span>
      {children}
    </ins>
  );
}
