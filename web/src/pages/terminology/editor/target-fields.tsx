/** The standard code of a mapping, typed, with what the service says about it. Contract: WEB-31. */
import { NativeSelect, TextInput } from '@mantine/core';
import { Ban, Check, Clock, TriangleAlert } from 'lucide-react';
import { useEffect, useId, useRef } from 'react';
import { useTranslations } from 'use-intl';
import { type Draft, EQUIVALENCES, type Equivalence, isSent, needsComment } from '../draft.ts';
import type { MapCheck } from './map-check.ts';
import css from './target-fields.module.css';

interface FieldsProperties {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  /** In a row of a table: the form that they belong to, which stands elsewhere. The heading of the column is their label. */
  rowForm?: string;
}

export function TargetFields(properties: FieldsProperties & { check: MapCheck; focus?: boolean }) {
  const { draft, onChange, rowForm, check, focus = false } = properties;
  const t = useTranslations('mapEditor');
  const id = useId();
  const code = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!focus) return;
    code.current?.focus({ preventScroll: true });
    code.current?.select();
  }, [focus]);
  const hasTarget = draft.equivalence !== 'unmatched';
  return (
    <div className={rowForm === undefined ? css.fields : css.stacked}>
      <TextInput
        {...named(t('targetCode'), rowForm)}
        ref={code}
        placeholder={rowForm && t('targetCode')}
        value={hasTarget ? draft.targetCode : ''}
        disabled={!hasTarget}
        autoComplete="off"
        spellCheck={false}
        data-autofocus={focus || undefined}
        aria-describedby={id}
        aria-invalid={check.state === 'fault'}
        onChange={(event) => onChange({ targetCode: event.currentTarget.value })}
      />
      <TextInput
        {...named(t('targetDisplay'), rowForm)}
        placeholder={rowForm && t('targetDisplay')}
        value={hasTarget ? draft.targetDisplay : ''}
        disabled={!hasTarget}
        onChange={(event) => onChange({ targetDisplay: event.currentTarget.value })}
      />
      <CheckLine id={id} check={check} />
    </div>
  );
}

const SIGNS = { new: Check, unchanged: Check, changes: TriangleAlert, fault: Ban } as const;

function CheckLine({ id, check }: { id: string; check: MapCheck }) {
  const t = useTranslations('mapEditor');
  const Sign = check.state in SIGNS ? SIGNS[check.state as keyof typeof SIGNS] : Clock;
  return (
    <span id={id} role="status" className={`${css.whole} ${css.check} ${css[check.state] ?? ''}`}>
      {check.state === 'idle' ? undefined : <Sign size={13} className={css.sign} aria-hidden="true" />}
      {check.state === 'fault' ? check.fault : t(`check.${check.state === 'new' ? 'good' : check.state}`)}
    </span>
  );
}

export function RelationFields({ draft, onChange, rowForm }: FieldsProperties) {
  const t = useTranslations('mapEditor');
  return (
    <div>
      <NativeSelect
        {...named(t('equivalence'), rowForm)}
        value={draft.equivalence}
        data={EQUIVALENCES.map((value) => ({ value, label: t(`equivalences.${value}`) }))}
        description={rowForm === undefined && !isSent(draft.equivalence) ? t('notSent') : undefined}
        onChange={(event) => onChange({ equivalence: event.currentTarget.value as Equivalence })}
      />
      {draft.comment !== '' || needsComment(draft.equivalence) ? (
        <TextInput
          {...named(t('comment'), rowForm)}
          mt="xs"
          value={draft.comment}
          placeholder={needsComment(draft.equivalence) ? t('commentRequired') : undefined}
          onChange={(event) => onChange({ comment: event.currentTarget.value })}
        />
      ) : undefined}
    </div>
  );
}

/** What a field is called, and its look in a row. */
function named(text: string, rowForm: string | undefined) {
  return rowForm === undefined ? { label: text } : { 'aria-label': text, size: 'xs', form: rowForm };
}
