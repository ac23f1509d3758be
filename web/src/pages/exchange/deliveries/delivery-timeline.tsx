/** What happened to a delivery, newest first: each try with its answer, what people decided, and what comes next. */
import { useTranslations } from 'use-intl';
import type { Answer } from '../../../api/answer.ts';
import { ZonedTime } from '../../../blocks/values/zoned-time.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { useAccountAddresses } from '../../accounts/account-data.ts';
import css from '../exchange.module.css';

export type DeliveryDetail = Answer<'/exchange/deliveries/{deliveryId}'>;
type Attempt = DeliveryDetail['attempts'][number];
type Review = DeliveryDetail['reviews'][number];

export interface DeliveryAsRead {
  delivery: DeliveryDetail;
  /** In milliseconds. A page that is read again shows what is due by then, also where the delivery is as before. */
  readAt: number;
}

interface Step {
  at: string;
  tone: 'good' | 'bad' | 'warning' | 'running' | 'plain';
  title: string;
  texts: readonly string[];
}

export function DeliveryTimeline({ delivery, readAt }: DeliveryAsRead) {
  const t = useTranslations('exchange.delivery');
  const attemptStep = useAttemptStep();
  const { event, occurredAt, attempts, reviews, heldAt, nextAttemptAt, waitReason } = delivery;
  const reviewStep = useReviewStep(reviews);
  // What `connection resync` queued has the same event as a change.
  const why = event === 'patient.created' ? t('queuedTexts.created') : t('queuedTexts.updated');
  const steps: Step[] = [
    { at: occurredAt, tone: 'plain', title: t('queued'), texts: [why] },
    ...attempts.map(attemptStep),
    ...reviews.map(reviewStep),
  ];
  if (heldAt !== null)
    steps.push({
      at: heldAt,
      tone: 'warning',
      title: t('held'),
      texts: [t('heldText')],
    });
  if (nextAttemptAt !== null && waitReason === null)
    steps.push({ at: nextAttemptAt, tone: 'running', title: t(nextWord(nextAttemptAt, readAt)), texts: [] });
  // The sort is stable: of the same instant, the later kind comes first.
  const newestFirst = steps.reverse().sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return (
    <ol className={css.timeline}>
      {newestFirst.map(({ at, tone, title, texts }) => (
        <li key={`${at} ${title}`} className={`${css.step} ${css[tone] ?? ''}`}>
          <div className={css.stepTop}>
            <span className={css.stepTitle}>{title}</span>
            <span className={css.stepTime}>
              <ZonedTime at={at} to="second" />
            </span>
          </div>
          {texts.map((text) => (
            <p key={text} className={css.stepText}>
              {text}
            </p>
          ))}
        </li>
      ))}
    </ol>
  );
}

/** It may be due without being sent: while deliveries to the exchange fail, one at a time is tried. */
export function nextWord(nextAttemptAt: string, readAt: number): 'next' | 'due' {
  return Date.parse(nextAttemptAt) > readAt ? 'next' : 'due';
}

const TONES: Record<string, Step['tone']> = { delivered: 'good', failed: 'bad', refused: 'bad' };
const OUTCOMES = ['delivered', 'failed', 'refused', 'withheld', 'unsent'] as const;

function useAttemptStep(): (attempt: Attempt) => Step {
  const t = useTranslations('exchange.delivery');
  const answerOf = useAnswerText();
  return (attempt) => {
    const outcome = OUTCOMES.find((one) => one === attempt.outcome) ?? 'failed';
    return {
      at: attempt.startedAt,
      tone: TONES[outcome] ?? 'plain',
      title: t(`outcomes.${outcome}`),
      // A try that was delivered or never sent cannot have been used up.
      texts: [
        answerOf(attempt, outcome),
        ...(TONES[outcome] === 'bad' && !attempt.counted ? [t('notCounted')] : []),
      ],
    };
  };
}

function useAnswerText() {
  const t = useTranslations('exchange.delivery');
  return ({ status, failure, durationMs: ms }: Attempt, outcome: (typeof OUTCOMES)[number]): string => {
    if (outcome === 'withheld' || outcome === 'unsent') return t(outcome);
    if (status !== null) return t('answered', { status: String(status), ms });
    if (failure === 'TIMEOUT') return t('failures.timeout', { ms });
    const name = FAILURES[failure ?? ''];
    return name === undefined ? t('failures.other', { code: failure ?? '–' }) : t(`failures.${name}`);
  };
}

/** Codes of Node.js for why there was no answer. */
const FAILURES: Record<string, 'refused' | 'reset' | 'name' | 'lookup'> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ENOTFOUND: 'name',
  EAI_AGAIN: 'lookup',
};

function useReviewStep(reviews: readonly Review[]): (review: Review) => Step {
  const t = useTranslations('exchange.delivery');
  const { session } = useSession();
  const addressOf = useAccountAddresses(reviews.map(({ accountId }) => accountId));
  const nameOf = (id: string) => addressOf(id) ?? t('account', { id });
  return ({ action, reason, accountId, decidedAt }) => {
    const who = accountId === null ? t('operator') : nameOf(accountId);
    const by = accountId === session.account.userId ? t('byYou') : t('by', { who });
    return {
      at: decidedAt,
      tone: 'plain',
      title: t(action === 'replay' ? 'replayed' : 'skipped'),
      texts: reason === null ? [by] : [by, reason],
    };
  };
}
