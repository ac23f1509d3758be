/** What a failure is called: the service's own words, or ours where it could not be asked. */
import { useTranslations } from 'use-intl';
import { ApiError } from '../../api/api-error.ts';
import { PageNotLoaded } from '../../app/lazy-page.ts';

export function useErrorText(): (error: unknown) => string {
  const t = useTranslations('blocks');
  return (error) => {
    if (error instanceof PageNotLoaded) return t('codeMissing');
    if (!(error instanceof ApiError)) return t('consoleFailed');
    if (error.status === 0) return t('unreachable');
    if (error.message === '') return t('answered', { status: String(error.status) });
    return error.message;
  };
}
