/** How an account signs in from now on, as it is shown once. */
import { useTranslations } from 'use-intl';
import type { Secret } from '../../blocks/dialogs/secret-once.tsx';
import type { Issued } from './account-data.ts';

export function useIssuedSecrets(): (issued: Issued) => Secret[] {
  const t = useTranslations('accounts');
  return ({ password, setupLink }) => [
    ...(password === undefined ? [] : [{ name: t('password'), value: password }]),
    ...(setupLink === undefined ? [] : [{ name: t('setupLinkOnce'), value: setupLink }]),
  ];
}
