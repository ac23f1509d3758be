/** Why a person reads patients' data: chosen, said on the page, and kept in its address. Contract: WEB-34. */
import { NativeSelect } from '@mantine/core';
import { useTranslations } from 'use-intl';

export const PURPOSES = ['TREATMENT', 'PAYMENT', 'OPS', 'RESEARCH'] as const;
export type Purpose = (typeof PURPOSES)[number];

export function purposeOf(text: string | undefined): Purpose {
  return PURPOSES.find((one) => one === text) ?? 'OPS';
}

export function usePurposeName(): (purpose: Purpose) => string {
  const t = useTranslations('patients.purposes');
  return (purpose) => t(purpose);
}

export function PurposeField({ value, onChange }: { value: Purpose; onChange: (purpose: Purpose) => void }) {
  const t = useTranslations('patients');
  const nameOf = usePurposeName();
  return (
    <NativeSelect
      label={t('purpose')}
      description={t('purposeHelp')}
      size="xs"
      value={value}
      data={PURPOSES.map((one) => ({ value: one, label: nameOf(one) }))}
      onChange={(event) => onChange(event.currentTarget.value as Purpose)}
    />
  );
}
