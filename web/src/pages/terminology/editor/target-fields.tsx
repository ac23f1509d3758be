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
  size: 'xs' | 'sm';
  /** In a table the heading of the column is the label. */
  hasLabels?: boolean;
  /** The form that they belong to, where they do not stand in it. */
  form?: string;
}

export function TargetFields(properties: FieldsProperties & { check: MapCheck; focus?: boolean }) {
  const { draft, onChange, size, hasLabels = true, form, check, focus = false } = properties;
  const t = useTranslations('mapEditor');
  const id = useId();
  const code = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!focus) return;
    code.current?.focus({ preventScroll: true });
    code.current?.select();
  }, [focus]);
  const name = (text: string) => (hasLabels ? { label: text } : { 'aria-label': text, placeholder: text });
  const hasTarget = draft.equivalence !== 'unmatched';
  return (
    <div className={hasLabels ? css.fields : css.stacked}>
      <TextInput
        {...name(t('targetCode'))}
        ref={code}
        size={size}
        value={hasTarget ? draft.targetCode : ''}
        disabled={!hasTarget}
        autoComplete="off"
        spellCheck={false}
        data-autofocus={focus || undefined}
        aria-describedby={id}
        aria-invalid={check.state === 'fault'}
        form={form}
        onChange={(event) => onChange({ targetCode: event.currentTarget.value })}
      />
      <TextInput
        {...name(t('targetDisplay'))}
        size={size}
        value={hasTarget ? draft.targetDisplay : ''}
        disabled={!hasTarget}
        form={form}
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

export function RelationFields({ draft, onChange, size, hasLabels = true, form }: FieldsProperties) {
  const t = useTranslations('mapEditor');
  const name = (text: string) => (hasLabels ? { label: text } : { 'aria-label': text });
  return (
    <div>
      <NativeSelect
        {...name(t('equivalence'))}
        size={size}
        value={draft.equivalence}
        form={form}
        data={EQUIVALENCES.map((value) => ({ value, label: t(`equivalences.${value}`) }))}
        description={hasLabels && !isSent(draft.equivalence) ? t('notSent') : undefined}
        onChange={(event) => onChange({ equivalence: event.currentTarget.value as Equivalence })}
      />
      {draft.comment !== '' || needsComment(draft.equivalence) ? (
        <TextInput
          {...name(t('comment'))}
          mt="xs"
          size={size}
          value={draft.comment}
          placeholder={needsComment(draft.equivalence) ? t('commentRequired') : undefined}
          form={form}
          onChange={(event) => onChange({ comment: event.currentTarget.value })}
        />
      ) : undefined}
    </div>
  );
}
