/** What a waiting code may be, by what the organisation mapped already; one press maps it. Contract: WEB-39. */
import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import type { Item } from '../../../api/answer.ts';
import { answered, api } from '../../../api/api.ts';
import { useErrorText } from '../../../blocks/states/error-text.ts';
import { useSession } from '../../../shell/session-context.tsx';
import { Coded } from '../coded.tsx';
import type { Draft } from '../draft.ts';
import css from './suggestions.module.css';
import type { UnmappedCode } from './waiting-code.tsx';

type Suggestion = Item<'/terminology/unmapped/suggestions'>;

/** More would hide the fields below. */
const SHOWN = 3;

interface SuggestionsProperties {
  waiting: UnmappedCode;
  /** Of a result with the code, where one was read. */
  unit: string | undefined;
  isSaving: boolean;
  onUse: (target: Partial<Draft>) => void;
}

export function Suggestions({ waiting, unit, isSaving, onUse }: SuggestionsProperties) {
  const t = useTranslations('mapEditor');
  const loading = useTranslations('blocks')('loading');
  const errorText = useErrorText();
  const { facility } = useSession();
  const { localSystem: system, localCode: code } = waiting;
  const { data, error, isPending } = useQuery({
    queryKey: ['terminology', 'suggestions', facility?.id, system, code, unit],
    queryFn: () =>
      answered(
        api.GET('/terminology/unmapped/suggestions', {
          params: { query: { system, code, unit } },
        }),
      ),
    // Those without the unit stay until those with it are there.
    placeholderData: keepPreviousData,
  });
  if (isPending) return <p className={css.note}>{loading}</p>;
  if (error !== null) return <p className={css.note}>{t('suggestionsFailed', { why: errorText(error) })}</p>;
  if (data.items.length === 0) return <p className={css.note}>{t('noSuggestions')}</p>;
  return (
    <section aria-label={t('suggestions')}>
      <p className={css.note}>{t('suggestionsText')}</p>
      <ul className={css.list}>
        {data.items.slice(0, SHOWN).map((one) => (
          <li key={`${one.targetSystem} ${one.targetCode}`} className={css.item}>
            <span>
              <Coded code={one.targetCode} display={one.targetDisplay} system={one.targetSystem} />
              <Why suggestion={one} />
            </span>
            <Button
              size="xs"
              variant="light"
              disabled={isSaving}
              aria-label={t('useNamed', { code: one.targetCode })}
              onClick={() => onUse(targetOf(one))}
            >
              {t('use')}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Why({ suggestion: { why, unitFits } }: { suggestion: Suggestion }) {
  const t = useTranslations('mapEditor');
  const tBlocks = useTranslations('blocks');
  const [first] = why;
  return (
    <span className={css.why}>
      {first === undefined
        ? undefined
        : `${tBlocks('named', {
            name: `${t(`why.${first.reason}`)} ${t(`from.${first.from}`)}`,
            what: [first.localCode, first.localDisplay].filter((text) => text !== null).join(', '),
          })}. `}
      {unitFits === null ? undefined : t(unitFits ? 'unitFits' : 'unitDiffers')}
    </span>
  );
}

function targetOf({ targetSystem, targetCode, targetDisplay }: Suggestion): Partial<Draft> {
  return { targetSystem, targetCode, targetDisplay: targetDisplay ?? '', equivalence: 'equivalent' };
}
