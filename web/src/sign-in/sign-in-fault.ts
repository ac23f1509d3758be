/** Why a password was not taken: the service speaks to systems, of identity and headers; a person typed an email. */
import { useTranslations } from 'use-intl';
import { ApiError } from '../api/api-error.ts';
import { useErrorText } from '../blocks/states/error-text.ts';

/** `refused`: what to say when something of what was typed is wrong. */
export function useSignInFault(refused: string): (error: unknown) => string {
  const t = useTranslations('signIn');
  const errorText = useErrorText();
  return (error) => {
    if (!(error instanceof ApiError)) return errorText(error);
    if (error.status === 403) return refused;
    const seconds = error.status === 429 ? error.retryAfterSeconds : undefined;
    return seconds === undefined ? errorText(error) : t('locked', { minutes: Math.ceil(seconds / 60) });
  };
}
