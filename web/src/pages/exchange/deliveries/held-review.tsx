/** Above the rows of held deliveries: replay or skip those that were chosen, or all that the filters mean. Contract: WEB-41. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { SendButton } from '../../../blocks/page/send-button.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import css from '../exchange.module.css';
import { REVIEW, type Selection, useHeldCount } from '../exchange-data.ts';
import { DecisionDialog } from './decision-dialog.tsx';

interface HeldReviewProperties {
  /** Of the list, as the address has them. */
  filters: Partial<Record<'connection' | 'patient' | 'since' | 'until', string | undefined>>;
  chosen: readonly string[];
  onClear: () => void;
}

interface Asked {
  action: 'replay' | 'skip';
  selection: Selection;
  isFiltered: boolean;
}

export function HeldReview({ filters, chosen, onClear }: HeldReviewProperties) {
  const t = useTranslations('exchange.review');
  const { may } = useSession();
  /** As it was when the question was asked: the list may be read anew behind it. */
  const [asked, setAsked] = useState<Asked>();
  const { connection, patient, since, until } = filters;
  const filtered: Selection = {
    connectionId: connection,
    patientId: patient,
    since,
    until,
  };
  const total = useHeldCount(filtered);
  const isSome = chosen.length > 0;
  const count = isSome ? chosen.length : (total ?? 0);
  const ask = (action: Asked['action']) =>
    setAsked({
      action,
      selection: isSome ? { deliveryIds: [...chosen] } : filtered,
      isFiltered: !isSome && Object.values(filtered).some((value) => value !== undefined),
    });
  return (
    <section className={css.review} aria-label={t('title')}>
      <p className={css.reviewText}>{t('text')}</p>
      {may(REVIEW) ? (
        <div className={css.reviewActions}>
          <span role="status">{isSome ? t('chosen', { count: chosen.length }) : undefined}</span>
          {isSome ? (
            <SendButton variant="subtle" size="xs" onClick={onClear}>
              {t('clear')}
            </SendButton>
          ) : undefined}
          <Button variant="default" size="xs" disabled={count === 0} onClick={() => ask('skip')}>
            {t(isSome ? 'skipSome' : 'skipAll', { count })}
          </Button>
          <Button size="xs" disabled={count === 0} onClick={() => ask('replay')}>
            {t(isSome ? 'replaySome' : 'replayAll', { count })}
          </Button>
        </div>
      ) : (
        <p className={css.reviewText}>{t.rich('mayNot', { name: () => <code>{REVIEW}</code> })}</p>
      )}
      <DecisionDialog
        action={asked?.action}
        selection={asked?.selection ?? filtered}
        isFiltered={asked?.isFiltered ?? false}
        onClose={() => setAsked(undefined)}
      />
    </section>
  );
}
