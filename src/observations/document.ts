/** Pieces of SQL that read a record with its parts as one JSON document, names in camel case. */

/** `alias.patient_id as "patientId", …` for each column; `a>b` names column `a` as `b`. */
export function camelColumns(alias: string, columns: readonly string[]): string {
  return columns
    .map((column) => {
      const [name = '', as = name] = column.split('>');
      return `${alias}.${name} as "${camelCase(as)}"`;
    })
    .join(', ');
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
