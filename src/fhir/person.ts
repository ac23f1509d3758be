/** Data types of people's names and addresses (FHIR R4, "Data Types"). Never empty: absent instead. */
import type { Period } from './coded.ts';

export interface HumanName {
  use?: string;
  text?: string;
  family?: string;
  given?: string[];
  prefix?: string[];
  suffix?: string[];
  period?: Period;
}

export interface ContactPoint {
  system?: string;
  value?: string;
  use?: string;
  rank?: number;
}

export interface Address {
  use?: string;
  type?: string;
  text?: string;
  line?: string[];
  city?: string;
  district?: string;
  state?: string;
  postalCode?: string;
  country?: string;
}

/** How a person is shown: the official name, else the usual one, else the first; as text, else built of its parts. */
export function displayName(names: readonly HumanName[]): string | null {
  const use = (wanted: string) => names.find((name) => name.use === wanted);
  const name = use('official') ?? use('usual') ?? names[0];
  if (name === undefined) return null;
  const parts = [...(name.prefix ?? []), ...(name.given ?? []), name.family ?? '', ...(name.suffix ?? [])];
  const built = parts.filter((part) => part !== '').join(' ');
  return name.text ?? (built === '' ? null : built);
}
