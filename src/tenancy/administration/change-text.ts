/** What a command says of a change, also when nothing was changed. Contract: ADM-78. */
export function changeText(name: string, changed: boolean): string {
  return changed
    ? `${name} is changed, from the next call on.`
    : `${name} had that already. Nothing was changed.`;
}
