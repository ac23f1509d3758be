/** What the service shows once about a connection, with names for people. */
import { useTranslations } from 'use-intl';
import type { Secret } from '../../../blocks/dialogs/secret-once.tsx';

interface Shown {
  outboundSecret?: string;
  callbackSecret?: string;
  callbackUrl: string;
}

export function useSecretNames(): (shown: Shown) => Secret[] {
  const t = useTranslations('exchangeConnections');
  return (shown) =>
    (['outboundSecret', 'callbackSecret', 'callbackUrl'] as const).flatMap((name) => {
      const value = shown[name];
      return value === undefined ? [] : [{ name: t(name), value }];
    });
}
