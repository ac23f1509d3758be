/** What a form sends: only what was changed in it, because somebody else may have changed the rest since. */

/** The members that are not as before. */
export function changedOf<Wanted extends object>(
  before: Readonly<Record<keyof Wanted, unknown>>,
  wanted: Wanted,
): Partial<Wanted> {
  const changed = Object.entries(wanted).filter(([name, value]) => value !== before[name as keyof Wanted]);
  return Object.fromEntries(changed) as Partial<Wanted>;
}

interface ChangedList {
  before: readonly string[];
  wanted: readonly string[];
}

/**
 * A list as it is stored now, with what was added and taken away in the form. In the order of `wanted`; what somebody else
 * added follows.
 */
export function withChanges(now: readonly string[], { before, wanted }: ChangedList): string[] {
  const isAdded = (one: string) => !before.includes(one);
  return [
    ...wanted.filter((one) => isAdded(one) || now.includes(one)),
    ...now.filter((one) => isAdded(one) && !wanted.includes(one)),
  ];
}
