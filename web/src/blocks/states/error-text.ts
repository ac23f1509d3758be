/** What a failure is called: the service's own words, or ours where it could not be asked. */
import { useTranslations } from 'use-intl';
import { AnswerLost, ApiError } from '../../api/api-error.ts';
import { PageNotLoaded } from '../../app/lazy-page.ts';

export const NOT_FOUND = 404;

export function useErrorText(): (error: unknown) => string {
  const t = useTranslations('blocks');
  return (error) => {
    if (error instanceof PageNotLoaded) return t('codeMissing');
    if (error instanceof AnswerLost) return t('answerLost');
    if (!(error instanceof ApiError)) return t('consoleFailed');
    if (error.status === 0) return t('unreachable');
    if (error.message === '') return t('answered', { status: String(error.status) });
    // What was not found, without what a program should check then.
    if (error.status === NOT_FOUND) return `${error.message.split(/(?<=\.) /, 1)[0]} ${t('notFound')}`;
    return error.message;
  };
}
