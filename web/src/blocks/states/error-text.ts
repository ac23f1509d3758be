/** What a failure is called: the service's own words, or ours where it could not be asked. */
import { useTranslations } from 'use-intl';
import { ApiError } from '../../api/api-error.ts';

export function useErrorText(): (error: unknown) => string {
  const t = useTranslations('blocks');
  return (error) => {
    if (!(error instanceof ApiError)) return t('consoleFailed');
    if (error.status === 0) return t('unreachable');
    return error.message === '' ? t('answered', { status: String(error.status) }) : error.message;
  };
}
