/**
 * Texts of a page that may not stand in its address, because they name patients: the history of a browser keeps addresses, and
 * so do logs of proxies. The entry of the history has a key; the text stays in this tab until the session ends.
 * Contract: WEB-66.
 */
const ITEM = 'interchange-texts';
/** Enough to go back as far as anybody does. */
const KEPT = 50;

type Texts = [key: string, text: string][];

function readAll(): Texts {
  return JSON.parse(sessionStorage.getItem(ITEM) ?? '[]') as Texts;
}

/** Returns the key, for the state of the entry. */
export function keepText(text: string): string {
  const key = crypto.randomUUID();
  sessionStorage.setItem(ITEM, JSON.stringify([...readAll(), [key, text]].slice(-KEPT)));
  return key;
}

export function keptText(key: string | undefined): string | undefined {
  return readAll().find(([one]) => one === key)?.[1];
}

/** The next person may not read them. */
export function forgetTexts(): void {
  sessionStorage.removeItem(ITEM);
}
