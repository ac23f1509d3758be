/** What the command palette offers: pages, and the actions of the page that is open. */
import { useEffect, useId, useMemo, useRef } from 'react';
import { sharedValue } from '../../app/shared-value.ts';

export interface Command {
  id: string;
  label: string;
  /** Shown beside the label: "Page", "Action". */
  kind?: string;
  run: () => void;
}

/** By the component that offers them. */
const sources = sharedValue<ReadonlyMap<string, readonly Command[]>>(new Map());

/**
 * Offers commands for as long as the component that calls it is shown. One does what it would do now: the page may be that of
 * another thing by then, or have other filters.
 */
export function useCommands(commands: readonly Command[]): void {
  const source = useId();
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  const signature = commands.map(({ id, label }) => `${id} ${label}`).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: callers make the list anew at each render.
  useEffect(() => {
    const run = (id: string) => latest.current.find((one) => one.id === id)?.run();
    const offered = commands.map((command) => ({ ...command, run: () => run(command.id) }));
    sources.set(new Map(sources.get()).set(source, offered));
    return () => sources.set(new Map([...sources.get()].filter(([one]) => one !== source)));
  }, [source, signature]);
}

/** Those that contain every word of the text; letters count without their accents. */
export function useFoundCommands(text: string): readonly Command[] {
  const all = sources.use();
  return useMemo(() => {
    const words = plain(text).split(/\s+/).filter(Boolean);
    return [...all.values()].flat().filter(({ label }) => words.every((word) => plain(label).includes(word)));
  }, [all, text]);
}

function plain(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
}
