/** Pages that belong together, or parts of one: links, so that each has an address. The current one says so itself. */
import type { ReactNode } from 'react';
import css from './page-tabs.module.css';

export function PageTabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className={css.tabs}>
      {children}
    </nav>
  );
}

/** In a tab: how many wait there for somebody. None is not shown. */
export function TabCount({ count = 0 }: { count?: number | undefined }) {
  return count === 0 ? undefined : <span className={css.count}>{count}</span>;
}
