/** A text as one word of a POSIX shell, for commands that are printed to be pasted: `/srv/a b` is `'/srv/a b'`. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
