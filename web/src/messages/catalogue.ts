/** The languages of the console. A key that one of them lacks is a type error. Contract: WEB-8. */
import { en } from './en.ts';

type Texts<Part> = { [Key in keyof Part]: Part[Key] extends string ? string : Texts<Part[Key]> };

/** The shape of every catalogue: that of English. */
export type Catalogue = Texts<typeof en>;

export const LANGUAGES = { en: 'English', fr: 'Français' } as const;
export type Language = keyof typeof LANGUAGES;

export async function readCatalogue(language: Language): Promise<Catalogue> {
  return language === 'fr' ? (await import('./fr.ts')).fr : en;
}
