/** Where somebody signed in, in words: in a cell of its own, and inside a sentence. */
import { useFormatter, useTranslations } from 'use-intl';

interface Session {
  /** Null of a session of tokens. */
  userAgent: string | null;
  lastUsedAt: string;
}

export function useDeviceName(): (session: Pick<Session, 'userAgent'>) => string {
  const t = useTranslations('devices');
  return ({ userAgent }) => {
    if (userAgent === null) return t('program');
    const { browser, system } = deviceOf(userAgent);
    if (browser === undefined) return t('unknownBrowser');
    return system === undefined ? browser : t('browserOn', { browser, system });
  };
}

/** What a button that ends a session is called: a table has many, and each is read out alone. Contract: WEB-62. */
export function useEndName(): (session: Session) => string {
  const t = useTranslations('devices');
  const format = useFormatter();
  const nameOf = useDeviceName();
  return (session) => {
    const { userAgent, lastUsedAt } = session;
    const used = format.dateTime(new Date(lastUsedAt), { dateStyle: 'medium', timeStyle: 'medium' });
    if (userAgent === null) return t('endProgram', { used });
    const isKnown = deviceOf(userAgent).browser !== undefined;
    return isKnown ? t('endBrowser', { device: nameOf(session), used }) : t('endUnknown', { used });
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
