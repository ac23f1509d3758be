/** A page before the sign-in: a card in the middle, with the name of the product. */
import { type ReactNode, useEffect, useRef } from 'react';
import { Wordmark } from '../shell/wordmark.tsx';
import css from './outside-page.module.css';

interface OutsidePageProperties {
  title: string;
  text?: string;
  /** The heading takes the focus: the page has changed under the reader. */
  isFocused?: boolean;
  children?: ReactNode;
}

export function OutsidePage({ title, text, isFocused = false, children }: OutsidePageProperties) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – interchange`;
    if (isFocused) heading.current?.focus();
  }, [title, isFocused]);
  return (
    <main className={css.page}>
      <div className={css.card}>
        <Wordmark />
        <h1 className={css.title} id="heading" ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {text === undefined ? undefined : <p className={css.text}>{text}</p>}
        {children}
      </div>
    </main>
  );
}
