/** The language of the console: what the person chose, else what the browser asks for. Contract: WEB-8. */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from 'react';
import { IntlProvider } from 'use-intl';
import { speak } from '../api/call-headers.ts';
import { type Catalogue, LANGUAGES, type Language, readCatalogue } from '../messages/catalogue.ts';
import { en } from '../messages/en.ts';
import { readWordsAgain } from './queries.ts';

const KEY = 'interchange-language';

const ENGLISH = { language: 'en', texts: en } as const;

interface LanguageContextValue {
  /** Of the words that are shown. */
  language: Language;
  /** Remembered from now on. Fails where its words do not come: those that are shown stay. */
  choose: (language: Language) => Promise<void>;
}

const LanguageContext = createContext<LanguageContextValue>({
  language: 'en',
  choose: () => Promise.resolve(),
});

export function useLanguage() {
  return useContext(LanguageContext);
}

function isLanguage(value: string | null | undefined): value is Language {
  return typeof value === 'string' && Object.hasOwn(LANGUAGES, value);
}

function preferred(): Language {
  const wanted = [localStorage.getItem(KEY), ...navigator.languages.map((tag) => tag.split('-')[0])];
  return wanted.find(isLanguage) ?? 'en';
}

/** Dates and numbers are written as in the region that the browser names: en-GB, fr-CA. */
function regionOf(language: Language): Language {
  const region = navigator.languages.find((tag) => tag.split('-')[0] === language && isTag(tag));
  return (region ?? language) as Language;
}

/** Chromium on a machine without a locale asks for `en-US@posix`, which no text can be written in. */
function isTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<{ language: Language; texts: Catalogue }>();
  const latest = useRef<Language>(undefined);
  const show = useCallback(async (language: Language) => {
    latest.current = language;
    const texts = await readCatalogue(language);
    if (latest.current !== language) return;
    // Before anything is read for a page in this language.
    speak(language);
    setShown({ language, texts });
    void readWordsAgain();
  }, []);
  useEffect(() => {
    // English is always here: words that did not come are no reason to show nothing.
    show(preferred()).catch(() => setShown(ENGLISH));
  }, [show]);
  useEffect(() => {
    if (shown !== undefined) document.documentElement.lang = shown.language;
  }, [shown]);
  if (shown === undefined) return null;
  const { language, texts } = shown;
  const choose = (chosen: Language) => {
    localStorage.setItem(KEY, chosen);
    return show(chosen);
  };
  return (
    <LanguageContext value={{ language, choose }}>
      <IntlProvider locale={regionOf(language)} messages={texts as never} timeZone="UTC">
        {children}
      </IntlProvider>
    </LanguageContext>
  );
}
