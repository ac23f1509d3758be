/**
 * Pages that belong together, or parts of one: links, so that each has an address. The current one says so itself. Where there
 * is no room for all, they are scrolled sideways, and begin where the current one is. Contract: WEB-71.
 */
import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { useFormatter } from 'use-intl';
import css from './page-tabs.module.css';

/** `activeOptions` of a tab: it is the current one at its own address only, whatever the filters. */
export const EXACT = { exact: true, includeSearch: false };

export function PageTabs({ label, children }: { label: string; children: ReactNode }) {
  const tabs = useRef<HTMLElement>(null);
  const href = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.href });
  const shown = useRef('');
  // After each change of the address or of a tab's words. What somebody scrolled stays as it is otherwise.
  useLayoutEffect(() => {
    const now = `${tabs.current?.scrollWidth} ${href}`;
    if (now !== shown.current) showCurrent(tabs.current);
    shown.current = now;
  });
  return (
    <nav aria-label={label} className={css.tabs} ref={tabs}>
      {children}
    </nav>
  );
}

/** In the middle, so that one beside it is seen too. The page itself is not scrolled. */
function showCurrent(tabs: HTMLElement | null): void {
  const current = tabs?.querySelector<HTMLElement>('[aria-current="page"]');
  if (tabs === null || current === null || current === undefined) return;
  const { left, width } = current.getBoundingClientRect();
  const room = tabs.getBoundingClientRect();
  tabs.scrollLeft += left + width / 2 - (room.left + room.width / 2);
}

/** In a tab: how many wait there for somebody. None is not shown. */
export function TabCount({ count = 0 }: { count?: number }) {
  const format = useFormatter();
  return count === 0 ? undefined : <span className={css.count}>{format.number(count)}</span>;
}
