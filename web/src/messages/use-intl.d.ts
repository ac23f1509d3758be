/** What the texts are, for the library that shows them. */
import type { Language } from './catalogue.ts';
import type { en } from './en.ts';

declare module 'use-intl' {
  interface AppConfig {
    Messages: typeof en;
    Locale: Language;
  }
}
