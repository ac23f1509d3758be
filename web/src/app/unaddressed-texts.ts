/**
 * Texts of a page that may not stand in its address, because they name patients: the history of a browser keeps addresses, and
 * so do logs of proxies. The entry of the history has a key; the text stays in this tab until the session ends.
 * Contract: WEB-66.
 */
const ITEM = 'interchange-texts';
/** Enough to go back as far as anybody does. */
const KEPT = 50;

type Texts = [key: string, text: string][];

interface Kept {
  owner: string | undefined;
  texts: Texts;
}

function readKept(): Kept {
  return JSON.parse(sessionStorage.getItem(ITEM) ?? '{"texts":[]}') as Kept;
}

/** Returns the key, for the state of the entry. */
export function keepText(text: string): string {
  const key = crypto.randomUUID();
  const { owner, texts } = readKept();
  sessionStorage.setItem(ITEM, JSON.stringify({ owner, texts: [...texts, [key, text]].slice(-KEPT) }));
  return key;
}

export function keptText(key: string | undefined): string | undefined {
  return readKept().texts.find(([one]) => one === key)?.[1];
}

/** Texts of another session go: the next person may not read them. */
export function keepTextsOf(owner: string | undefined): void {
  if (owner === undefined) sessionStorage.removeItem(ITEM);
  else if (readKept().owner !== owner) sessionStorage.setItem(ITEM, JSON.stringify({ owner, texts: [] }));
}
