/** In place of what could not be read: what failed, what the service said, and its correlation id. */
import { Code } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ApiError } from '../../api/api-error.ts';
import { SendButton } from '../page/send-button.tsx';
import css from './empty-state.module.css';
import { StateHeading } from './empty-state.tsx';
import { NOT_FOUND, useErrorText } from './error-text.ts';

interface ErrorStateProperties {
  error: unknown;
  onRetry?: () => void;
  /** Where to go instead, as a link, when it is not there: trying again would not help. */
  way?: ReactNode;
  /** 1: in place of a whole page. */
  level?: 1 | 2;
}

export function ErrorState({ error, onRetry, way, level = 2 }: ErrorStateProperties) {
  const t = useTranslations('blocks');
  const errorText = useErrorText();
  const isMissing = error instanceof ApiError && error.status === NOT_FOUND;
  const correlationId = error instanceof ApiError ? error.correlationId : undefined;
  return (
    <div className={css.state} role="alert">
      <StateHeading title={t('notRead')} level={level} />
      <p className={css.text}>{errorText(error)}</p>
      {correlationId === undefined ? undefined : (
        <p className={css.text}>
          {t('correlationId')} <Code>{correlationId}</Code>
        </p>
      )}
      {isMissing && way !== undefined ? <div className={css.actions}>{way}</div> : retry()}
    </div>
  );

  function retry() {
    if (onRetry === undefined) return undefined;
    return (
      <div className={css.actions}>
        <SendButton variant="default" onClick={onRetry}>
          {t('retry')}
        </SendButton>
      </div>
    );
  }
}
