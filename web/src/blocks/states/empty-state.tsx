/** In place of a list that has nothing: why, and what to do next. */
import type { ReactNode } from 'react';
import { PageHeading } from '../page/page-header.tsx';
import css from './empty-state.module.css';

interface EmptyStateProperties {
  title: string;
  text: ReactNode;
  /** 1: in place of a whole page. */
  level?: 1 | 2;
  /** Links and buttons: what to do next. */
  children?: ReactNode;
}

export function EmptyState({ title, text, level = 2, children }: EmptyStateProperties) {
  return (
    <div className={css.state}>
      <StateHeading title={title} level={level} />
      <p className={css.text}>{text}</p>
      {children === undefined ? undefined : <div className={css.actions}>{children}</div>}
    </div>
  );
}

export function StateHeading({ title, level }: { title: string; level: 1 | 2 }) {
  if (level === 1) return <PageHeading title={title} className={css.title} />;
  return <h2 className={css.title}>{title}</h2>;
}
