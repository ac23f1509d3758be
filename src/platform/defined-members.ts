/** The members of an object that are not undefined: what was given, where everything is optional. */
export function definedMembers<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}
