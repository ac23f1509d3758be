/** Bundles (FHIR R4, "Bundle"). Contract: ENC-2, ENC-26. */
export interface SearchsetEntry {
  /** Absolute, without version. */
  fullUrl: string;
  /** The resource as JSON text. */
  resource: string;
}

export interface Searchset {
  /** The search as it was understood, absolute. */
  self: string;
  /** The next page, absolute; absent on the last. */
  next?: string | undefined;
  entries: readonly SearchsetEntry[];
  /** An OperationOutcome: what there is to say about the search, beside what it found. */
  outcome?: SearchsetEntry | undefined;
}

/** A page of search results as JSON text: no `total`, and no `entry` where nothing was found. */
export function searchsetJson({ self, next, entries, outcome }: Searchset): string {
  let links = link('self', self);
  if (next !== undefined) links += `,${link('next', next)}`;
  const head = `{"resourceType":"Bundle","type":"searchset","link":[${links}]`;
  if (entries.length === 0 && outcome === undefined) return `${head}}`;
  let text = '';
  for (const found of entries) text += `${text === '' ? '' : ','}${entry(found, 'match')}`;
  if (outcome !== undefined) text += `${text === '' ? '' : ','}${entry(outcome, 'outcome')}`;
  return `${head},"entry":[${text}]}`;
}

function entry({ fullUrl, resource }: SearchsetEntry, mode: 'match' | 'outcome'): string {
  return `{"fullUrl":${JSON.stringify(fullUrl)},"resource":${resource},"search":{"mode":"${mode}"}}`;
}

function link(relation: string, url: string): string {
  return `{"relation":"${relation}","url":${JSON.stringify(url)}}`;
}
