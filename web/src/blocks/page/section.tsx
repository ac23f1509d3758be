/** A part of a page, with a heading of its own. */
import { type ReactNode, useId } from 'react';
import css from './section.module.css';

interface SectionProperties {
  title: string;
  text?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Section({ title, text, actions, children }: SectionProperties) {
  const id = useId();
  return (
    <section className={css.section} aria-labelledby={id}>
      <div className={css.top}>
        <h2 id={id} className={css.title}>
          {title}
        </h2>
        {actions}
      </div>
      {text === undefined ? undefined : <p className={css.text}>{text}</p>}
      {children}
    </section>
  );
}
