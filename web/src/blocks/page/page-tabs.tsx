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
