/** What one entry of a file would become in the map. */
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { After, Before } from '../../../blocks/values/changed-value.tsx';
import { Coded } from '../coded.tsx';
import css from './entry-change.module.css';
import type { EntryContent } from './map-import.ts';

interface TargetProperties {
  of: EntryContent;
  system: string;
}

function Target({ of: { targetCode, targetDisplay }, system }: TargetProperties) {
  const t = useTranslations('terminologyMaps');
  return <Coded code={targetCode ?? t('none')} display={targetDisplay} system={system} />;
}

export function NewEntry({ after, system }: { after: EntryContent; system: string }) {
  const texts = useTexts();
  return (
    <div>
      <Target of={after} system={system} />
      <ul className={css.fields}>
        {after.equivalence === 'equivalent' ? undefined : (
          <Field name={texts.names.equivalence}>{texts.textOf(after, 'equivalence')}</Field>
        )}
        {after.comment === null ? undefined : <Field name={texts.names.comment}>{after.comment}</Field>}
      </ul>
    </div>
  );
}

interface ReplacedProperties {
  before: EntryContent;
  after: EntryContent;
  system: string;
}

export function ReplacedEntry({ before, after, system }: ReplacedProperties) {
  const texts = useTexts();
  const isSameTarget = before.targetCode === after.targetCode && before.targetDisplay === after.targetDisplay;
  return (
    <div>
      {isSameTarget ? (
        <Target of={after} system={system} />
      ) : (
        <>
          <Before>
            <Target of={before} system={system} />
          </Before>
          <After>
            <Target of={after} system={system} />
          </After>
        </>
      )}
      <ul className={css.fields}>
        {FIELDS.filter((field) => before[field] !== after[field]).map((field) => (
          <Field key={field} name={texts.names[field]}>
            <Before>{texts.textOf(before, field)}</Before>
            <span aria-hidden="true"> → </span>
            <After>{texts.textOf(after, field)}</After>
          </Field>
        ))}
      </ul>
    </div>
  );
}

/** Those that have no place of their own in the row. */
const FIELDS = ['localDisplay', 'equivalence', 'comment'] as const;
type FieldName = (typeof FIELDS)[number];

function useTexts() {
  const t = useTranslations('mapImport');
  const editor = useTranslations('mapEditor');
  const none = useTranslations('terminologyMaps')('none');
  const names: Record<FieldName, string> = {
    localDisplay: editor('localDisplay'),
    equivalence: t('relation'),
    comment: editor('comment'),
  };
  const textOf = (content: EntryContent, field: FieldName): string =>
    field === 'equivalence' ? editor(`equivalences.${content.equivalence}`) : (content[field] ?? none);
  return { names, textOf };
}

function Field({ name, children }: { name: string; children: ReactNode }) {
  const t = useTranslations('mapImport');
  return (
    <li>
      <span className={css.name}>{t('field', { name })} </span>
      {children}
    </li>
  );
}
