/** JSON, to be read, folded and copied. Every value is text: nothing of it can become markup. */
import { useMemo } from 'react';
import { useTranslations } from 'use-intl';
import { Decimal } from '../../../../src/fhir/json.ts';
import { CopyButton } from '../copies/copy-button.tsx';
import css from './json-viewer.module.css';

/** Members of an object or array that are shown at once. */
const SHOWN_MEMBERS = 200;

interface JsonViewerProperties {
  value: unknown;
  /** What it is, for the copy button: "the payload". */
  name: string;
  /** How many levels begin unfolded; default 3. */
  unfolded?: number;
}

export function JsonViewer({ value, name, unfolded = 3 }: JsonViewerProperties) {
  const t = useTranslations('blocks');
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? '', [value]);
  return (
    <div className={css.viewer}>
      <div className={css.copy}>
        <CopyButton text={text} label={t('copyNamed', { name })} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard, too. */}
      <section className={css.text} aria-label={name} tabIndex={0}>
        <Value value={value} depth={unfolded} />
      </section>
    </div>
  );
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (value instanceof Decimal) return <span className={css.number}>{value.text}</span>;
  if (Array.isArray(value))
    return <Members entries={value.map((one) => [undefined, one])} brackets="[]" depth={depth} />;
  if (typeof value === 'object' && value !== null)
    return <Members entries={Object.entries(value)} brackets="{}" depth={depth} />;
  return <span className={css[typeof value]}>{JSON.stringify(value)}</span>;
}

interface MembersProperties {
  entries: (readonly [string | undefined, unknown])[];
  brackets: string;
  depth: number;
}

function Members({ entries, brackets, depth }: MembersProperties) {
  const t = useTranslations('blocks');
  const [opening, closing] = brackets;
  if (entries.length === 0) return <span>{brackets}</span>;
  const hidden = entries.length - SHOWN_MEMBERS;
  return (
    <details className={css.members} open={depth > 0}>
      <summary>
        {opening}
        <span className={css.count}>{t('members', { count: entries.length })}</span>
      </summary>
      <div className={css.inner}>
        {entries.slice(0, SHOWN_MEMBERS).map(([name, one], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the value does not change.
          <div key={index}>
            {name === undefined ? undefined : <span className={css.name}>{JSON.stringify(name)}: </span>}
            <Value value={one} depth={depth - 1} />
          </div>
        ))}
        {hidden > 0 ? <div className={css.count}>{t('moreMembers', { count: hidden })}</div> : undefined}
      </div>
      {closing}
    </details>
  );
}
