/** A text for whoever calls the service, in each language that it speaks (docs/adr/0149). */
export interface Words {
  readonly en: string;
  readonly fr: string;
}

export type Language = keyof Words;

/** Nothing is said of it: no header `content-language`, and nothing is different for a caller who asks for none. */
export const DEFAULT_LANGUAGE: Language = 'en';
