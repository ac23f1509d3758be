/** A list in a form that two people change at once: what is stored now, with what was added and taken away in the form. */
interface ChangedList {
  before: readonly string[];
  wanted: readonly string[];
}

/** In the order of `wanted`; what somebody else added follows. */
export function withChanges(now: readonly string[], { before, wanted }: ChangedList): string[] {
  const isAdded = (one: string) => !before.includes(one);
  return [
    ...wanted.filter((one) => isAdded(one) || now.includes(one)),
    ...now.filter((one) => isAdded(one) && !wanted.includes(one)),
  ];
}
