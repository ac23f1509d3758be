/** In place of a list that has nothing: why, and what to do next. */
import type { ReactNode } from 'react';
import css from './empty-state.module.css';

interface EmptyStateProperties {
  title: string;
  text: ReactNode;
  level?: 1 | 2;
  /** Links and buttons: what to do next. */
  children?: ReactNode;
}

export function EmptyState({ title, text, level = 2, children }: EmptyStateProperties) {
  const Heading = `h${level}` as const;
  return (
    <div className={css.state}>
      <Heading className={css.title}>{title}</Heading>
      <p className={css.text}>{text}</p>
      {children === undefined ? undefined : <div className={css.actions}>{children}</div>}
    </div>
  );
}
