/** One real result with a waiting code: the code as it goes out now, and as it would with the mapping. Contract: WEB-39. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import type { Answer } from '../../../api/answer.ts';
import { send } from '../../../api/api.ts';
import { fhirBody } from '../../../api/fhir-body.ts';
import { SendButton } from '../../../blocks/page/send-button.tsx';
import { useErrorText } from '../../../blocks/states/error-text.ts';
import { JsonViewer } from '../../../blocks/values/json-viewer.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { type Draft, isSent } from '../draft.ts';
import css from './suggestions.module.css';
import type { UnmappedCode } from './waiting-code.tsx';

interface CodedResult {
  code?: { coding?: { system?: string }[]; text?: string };
  valueQuantity?: { unit?: string };
}

type Example = ReturnType<typeof useResultExample>;

/** Read when somebody asks for it, because the patient's access log then says so. */
export function useResultExample(waiting: UnmappedCode | undefined) {
  const { facility } = useSession();
  const [isWanted, setWanted] = useState(false);
  const { localSystem: system = '', localCode: code = '' } = waiting ?? {};
  const { data, error, isFetching } = useQuery({
    queryKey: ['terminology', 'example', facility?.id, system, code],
    queryFn: () => readExample(new URLSearchParams({ system, code, purposeOfUse: 'OPS' })),
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
  });
  /** undefined: none was asked for yet, or there is none. */
  const result = data?.items[0]?.resource as CodedResult | undefined;
  return { result, wasAsked: data !== undefined, error, isFetching, show: () => setWanted(true) };
}

async function readExample(query: URLSearchParams) {
  const answer = await send('GET', `/terminology/unmapped/example?${query}`);
  return (await fhirBody(answer)) as Answer<'/terminology/unmapped/example'>;
}

interface ResultExampleProperties {
  waiting: UnmappedCode;
  draft: Draft;
  example: Example;
}

export function ResultExample({ waiting, draft, example }: ResultExampleProperties) {
  const t = useTranslations('mapEditor');
  const errorText = useErrorText();
  const { may } = useSession();
  const { result, wasAsked, error, isFetching, show } = example;
  // Only a laboratory result is shown: of a code that was met elsewhere there is none.
  const wasMet = waiting.places.some(({ place }) => place === 'lab.result');
  if (!wasMet || !may('investigations.lab.list')) return undefined;
  if (result === undefined)
    return (
      <section aria-label={t('example')}>
        <p className={css.note} role={error === null ? undefined : 'alert'}>
          {error === null ? t(wasAsked ? 'exampleNone' : 'exampleText') : errorText(error)}
        </p>
        <SendButton size="xs" variant="default" isSending={isFetching} onClick={show}>
          {t('exampleShow')}
        </SendButton>
      </section>
    );
  return (
    <section aria-label={t('example')}>
      <p className={css.note}>{t('before')}</p>
      <JsonViewer name={t('before')} value={shown(result)} unfolded={4} />
      {draft.targetCode === '' || !isSent(draft.equivalence) ? undefined : (
        <>
          <p className={css.note}>{t('after')}</p>
          <JsonViewer name={t('after')} value={shown(mapped(result, draft))} unfolded={4} />
        </>
      )}
    </section>
  );
}

/** What a mapping is about; the rest of the result stays as it is. */
function shown({ code, valueQuantity }: CodedResult): object {
  return { code, ...(valueQuantity === undefined ? {} : { valueQuantity }) };
}

/** The standard code goes first, the local one beside it, as docs/terminology.md says. A code of its system that is there stands. */
function mapped(result: CodedResult, { targetSystem, targetCode, targetDisplay }: Draft): CodedResult {
  const own = result.code?.coding ?? [];
  if (own.some(({ system }) => system === targetSystem)) return result;
  const standard = {
    system: targetSystem,
    code: targetCode,
    ...(targetDisplay === '' ? {} : { display: targetDisplay }),
  };
  return { ...result, code: { ...result.code, coding: [standard, ...own] } };
}
