/** The heading of a page, with its actions. Contract: WEB-4. */
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import css from './page-header.module.css';

interface PageHeadingProperties {
  title: string;
  /** Of the window, where the heading may name a patient: browsers keep titles in their history. Default: the heading. */
  windowTitle?: string;
}

interface PageHeaderProperties extends PageHeadingProperties {
  /** One sentence about what the page is for. */
  text?: ReactNode;
  /** Buttons; the main one last. */
  actions?: ReactNode;
  /** Way back to the list, for the page of one thing. */
  back?: ReactNode;
}

export function PageHeader({ title, windowTitle, text, actions, back }: PageHeaderProperties) {
  return (
    <div className={css.header}>
      <div className={css.words}>
        {back === undefined ? undefined : <div className={css.back}>{back}</div>}
        <PageHeading title={title} windowTitle={windowTitle} className={css.title} />
        {text === undefined ? undefined : <p className={css.text}>{text}</p>}
      </div>
      {actions === undefined ? undefined : <div className={css.actions}>{actions}</div>}
    </div>
  );
}

/** The page that opened with the console keeps the focus where the browser puts it. */
let isFirst = true;

/** Of a page, or of what stands in its place. It names the window, and takes the focus when the page changes. */
export function PageHeading({
  title,
  windowTitle = title,
  className,
}: PageHeadingProperties & { className: string | undefined }) {
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
    <h1 className={className} ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
}
