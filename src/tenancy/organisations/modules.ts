/** Module switches of a facility. Contract: ACC-11, ACC-12. */
export const MODULES = ['patients', 'encounters', 'vitals', 'lab', 'imaging', 'publish', 'exchange'] as const;
export type Module = (typeof MODULES)[number];

export function isModule(value: string): value is Module {
  return (MODULES as readonly string[]).includes(value);
}
