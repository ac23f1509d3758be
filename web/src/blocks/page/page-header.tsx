/** The heading of a page, with its actions. It names the document, and takes the focus when the page changes. Contract: WEB-4. */
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import css from './page-header.module.css';

interface PageHeaderProperties {
  title: string;
  /** Of the window, where the heading may name a patient: browsers keep titles in their history. Default: the heading. */
  windowTitle?: string;
  /** One sentence about what the page is for. */
  text?: ReactNode;
  /** Buttons; the main one last. */
  actions?: ReactNode;
  /** Way back to the list, for the page of one thing. */
  back?: ReactNode;
}

/** The page that opened with the console keeps the focus where the browser puts it. */
let isFirst = true;

export function PageHeader({ title, windowTitle = title, text, actions, back }: PageHeaderProperties) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { pathname } = useRouter().state.location;
  useEffect(() => {
    document.title = `${windowTitle} – interchange`;
  }, [windowTitle]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each page, and not when its filters change.
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, [pathname]);
  return (
    <div className={css.header}>
      <div className={css.words}>
        {back === undefined ? undefined : <div className={css.back}>{back}</div>}
        <h1 className={css.title} ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {text === undefined ? undefined : <p className={css.text}>{text}</p>}
      </div>
      {actions === undefined ? undefined : <div className={css.actions}>{actions}</div>}
    </div>
  );
}
