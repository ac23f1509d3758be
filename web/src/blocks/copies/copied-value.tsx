/** An id, an address or the like, to be read and copied. */
import { useTranslations } from 'use-intl';
import css from './copied-value.module.css';
import { CopyButton } from './copy-button.tsx';

/** `name`: what it is, for the copy button. */
export function CopiedValue({ name, value }: { name: string; value: string }) {
  const t = useTranslations('blocks');
  return (
    <span className={css.value}>
      <code>{value}</code>
      <CopyButton text={value} label={t('copyNamed', { name })} />
    </span>
  );
}
