/** The filters of a list. Their values are search parameters of the address, so a list can be shared and gone back to. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslations } from 'use-intl';
import { SendButton } from '../page/send-button.tsx';
import css from './filter-bar.module.css';

/** `text` and `day` are typed, days as the service takes them: 2026-01-31. One of `choices` is picked. */
export type Filter = { name: string; label: string } & (
  | { kind: 'text' | 'day' }
  | { choices: readonly Choice[] }
);

interface Choice {
  value: string;
  label: string;
}

export function choicesOf<Value extends string>(
  values: readonly Value[],
  labelOf: (value: Value) => string,
): Choice[] {
  return values.map((value) => ({ value, label: labelOf(value) }));
}

type Values = Readonly<Record<string, string | undefined>>;

export interface FilterValues {
  values: Values;
  /** With the values that changed; undefined takes a filter away. */
  change: (to: Values) => void;
}

export function useAddressFilters(): FilterValues {
  const navigate = useNavigate();
  return {
    values: useSearch({ strict: false }),
    change: (to) => void navigate({ to: '.', search: (old) => ({ ...old, ...to }), replace: true }),
  };
}

interface FilterBarProperties extends FilterValues {
  filters: readonly Filter[];
}

/** Between the last key and the search for what was typed. */
const TYPING_MS = 300;

export function FilterBar({ filters, values, change }: FilterBarProperties) {
  const t = useTranslations('blocks');
  const isFiltered = filters.some(({ name }) => values[name] !== undefined);
  const set = (name: string, value: string) => change({ [name]: value === '' ? undefined : value });
  const clear = () => change(Object.fromEntries(filters.map(({ name }) => [name, undefined])));
  return (
    <search className={css.bar} aria-label={t('filters')}>
      {filters.map((filter) => {
        const value = values[filter.name] ?? '';
        if ('choices' in filter)
          return (
            <NativeSelect
              key={filter.name}
              label={filter.label}
              size="xs"
              value={value}
              data={[{ value: '', label: t('any') }, ...filter.choices]}
              onChange={(event) => set(filter.name, event.currentTarget.value)}
            />
          );
        return (
          <TypedFilter
            key={filter.name}
            label={filter.label}
            type={filter.kind === 'day' ? 'date' : 'search'}
            value={value}
            onChange={(typed) => set(filter.name, typed)}
          />
        );
      })}
      {isFiltered ? (
        <SendButton variant="subtle" size="xs" onClick={clear}>
          {t('clearFilters')}
        </SendButton>
      ) : undefined}
    </search>
  );
}

interface TypedFilterProperties {
  label: string;
  type: 'date' | 'search';
  value: string;
  onChange: (value: string) => void;
}

function TypedFilter({ label, type, value, onChange }: TypedFilterProperties) {
  const [typed, setTyped] = useState(value);
  // The address changed by another way: back, or "clear filters".
  useEffect(() => setTyped((old) => (old.trim() === value ? old : value)), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts the wait.
  useEffect(() => {
    // Spaces come along with what is pasted.
    const wanted = typed.trim();
    if (wanted === value) return undefined;
    const timer = setTimeout(() => onChange(wanted), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <TextInput
      label={label}
      type={type}
      size="xs"
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}
