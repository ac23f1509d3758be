/** What the command palette offers: pages, and the actions of the page that is open. */
import { useEffect, useId, useMemo, useSyncExternalStore } from 'react';

export interface Command {
  id: string;
  label: string;
  /** Shown beside the label: "Page", "Action". */
  kind?: string;
  run: () => void;
}

let sources: ReadonlyMap<string, readonly Command[]> = new Map();
const listeners = new Set<() => void>();

function change(next: ReadonlyMap<string, readonly Command[]>): void {
  sources = next;
  for (const listener of listeners) listener();
}

/** Offers commands for as long as the component that calls it is shown. */
export function useCommands(commands: readonly Command[]): void {
  const source = useId();
  const signature = commands.map(({ id, label }) => `${id} ${label}`).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: callers make the list anew at each render.
  useEffect(() => {
    change(new Map(sources).set(source, commands));
    return () => {
      const rest = new Map(sources);
      rest.delete(source);
      change(rest);
    };
  }, [source, signature]);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Those that contain every word of the text. */
export function useFoundCommands(text: string): readonly Command[] {
  const all = useSyncExternalStore(subscribe, () => sources);
  return useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return [...all.values()]
      .flat()
      .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  }, [all, text]);
}
