/** `a, b,c` → `['a', 'b', 'c']`, behind those of the same option before it. Contract: CMD-27. */
export function splitList(text: string, before: readonly string[] = []): string[] {
  const parts = text.split(',').map((part) => part.trim());
  return [...before, ...parts.filter((part) => part !== '')];
}
