/** A program or command, to be read and copied as it is. */
import { useTranslations } from 'use-intl';
import css from './code-sample.module.css';
import { CopyButton } from './copy-button.tsx';

/** `name`: what it is, for the copy button: "first-call.sh". */
export function CodeSample({ name, text }: { name: string; text: string }) {
  const t = useTranslations('blocks');
  return (
    <div className={css.sample}>
      <div className={css.top}>
        <span>{name}</span>
        <CopyButton text={text} label={t('copyNamed', { name })} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard, too. */}
      <section className={css.text} aria-label={name} tabIndex={0}>
        <pre>{text.trimEnd()}</pre>
      </section>
    </div>
  );
}
