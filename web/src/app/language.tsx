/** The language of the console: what the person chose, else what the browser asks for. Contract: WEB-8. */
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { IntlProvider } from 'use-intl';
import { speak } from '../api/spoken-language.ts';
import { type Catalogue, LANGUAGES, type Language, readCatalogue } from '../messages/catalogue.ts';
import { en } from '../messages/en.ts';
import { readWordsAgain } from './queries.ts';

const KEY = 'interchange-language';

const ENGLISH = { language: 'en', texts: en } as const;

const LanguageContext = createContext<{ language: Language; choose: (language: Language) => void }>({
  language: 'en',
  choose: () => undefined,
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
  const [language, setLanguage] = useState(preferred);
  const [catalogue, setCatalogue] = useState<{ language: Language; texts: Catalogue }>();
  useEffect(() => {
    let wanted = true;
    const show = (texts: Catalogue) => {
      if (!wanted) return;
      // Before anything is read for a page in this language.
      speak(language);
      setCatalogue({ language, texts });
      void readWordsAgain();
    };
    // English is always here: words that did not come are no reason to show nothing.
    void readCatalogue(language).then(show, () => setCatalogue((shown) => shown ?? ENGLISH));
    return () => {
      wanted = false;
    };
  }, [language]);
  useEffect(() => {
    if (catalogue !== undefined) document.documentElement.lang = catalogue.language;
  }, [catalogue]);
  if (catalogue === undefined) return null;
  const choose = (chosen: Language) => {
    localStorage.setItem(KEY, chosen);
    setLanguage(chosen);
  };
  return (
    <LanguageContext value={{ language, choose }}>
      <IntlProvider locale={regionOf(catalogue.language)} messages={catalogue.texts as never} timeZone="UTC">
        {children}
      </IntlProvider>
    </LanguageContext>
  );
}
