/** A session in a table: where somebody signed in, in words, and the button that ends it. Contract: WEB-62. */
import { useMutation } from '@tanstack/react-query';
import { useFormatter, useTranslations } from 'use-intl';
import { asChange } from '../../app/queries.ts';
import type { Column } from '../../blocks/list/record-table.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { SendButton } from '../../blocks/page/send-button.tsx';
import { useErrorText } from '../../blocks/states/error-text.ts';

interface Session {
  /** Null of a session of tokens. */
  userAgent: string | null;
  lastUsedAt: string;
}

export function useDeviceColumn(): Column<Session> {
  const t = useTranslations('devices');
  const nameOf = useDeviceName();
  return {
    heading: t('device'),
    cell: ({ userAgent }) => <span title={userAgent ?? undefined}>{nameOf(userAgent)}</span>,
  };
}

export function EndSession({ session, end }: { session: Session; end: () => Promise<unknown> }) {
  const t = useTranslations('devices');
  const errorText = useErrorText();
  const { mutate, isPending } = useMutation({
    mutationFn: () => asChange(end()),
    onSuccess: () => announce({ kind: 'good', text: t('ended') }),
    onError: (error) => announce({ kind: 'bad', text: errorText(error) }),
  });
  return (
    <SendButton
      variant="default"
      size="compact-sm"
      aria-label={useEndName(session)}
      isSending={isPending}
      onClick={() => mutate()}
    >
      {t('end')}
    </SendButton>
  );
}

/** A table has many such buttons, and each is read out alone. */
function useEndName({ userAgent, lastUsedAt }: Session): string {
  const t = useTranslations('devices');
  const format = useFormatter();
  const nameOf = useDeviceName();
  const used = format.dateTime(new Date(lastUsedAt), { dateStyle: 'medium', timeStyle: 'medium' });
  if (userAgent === null) return t('endProgram', { used });
  const isKnown = deviceOf(userAgent).browser !== undefined;
  return isKnown ? t('endBrowser', { device: nameOf(userAgent), used }) : t('endUnknown', { used });
}

function useDeviceName(): (userAgent: string | null) => string {
  const t = useTranslations('devices');
  return (userAgent) => {
    if (userAgent === null) return t('program');
    const { browser, system } = deviceOf(userAgent);
    if (browser === undefined) return t('unknownBrowser');
    return system === undefined ? browser : t('browserOn', { browser, system });
  };
}

const BROWSERS: readonly (readonly [name: string, sign: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
];
const SYSTEMS: typeof BROWSERS = [
  ['Windows', /\bWindows\b/],
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];

/** The browser and system that a User-Agent names, as far as people know them by name. */
function deviceOf(userAgent: string): { browser: string | undefined; system: string | undefined } {
  const named = (list: typeof BROWSERS) => list.find(([, sign]) => sign.test(userAgent))?.[0];
  return { browser: named(BROWSERS), system: named(SYSTEMS) };
}
