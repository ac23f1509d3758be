/** Search parameters of an address that are texts: `validateSearch: textParameters('search', 'state')`. */
export function textParameters<Name extends string>(...names: readonly Name[]) {
  return (raw: Record<string, unknown>): { [Key in Name]?: string } => {
    const given: { [Key in Name]?: string } = {};
    for (const name of names) if (typeof raw[name] === 'string' && raw[name] !== '') given[name] = raw[name];
    return given;
  };
}
