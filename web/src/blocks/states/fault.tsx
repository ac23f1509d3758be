/** A sentence about what went wrong, at the top of a form. It is read out and scrolled into view when it appears. */
import { useEffect, useRef } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { useErrorText } from './error-text.ts';
import css from './fault.module.css';

export function Fault({ text }: { text: string | undefined }) {
  const place = useRef<HTMLParagraphElement>(null);
  // Who sent a long form is at its end.
  useEffect(() => {
    if (text !== undefined) place.current?.scrollIntoView({ block: 'nearest' });
  }, [text]);
  if (text === undefined || text === '') return undefined;
  return (
    <p role="alert" className={css.fault} ref={place}>
      {text}
    </p>
  );
}

interface CallFaultProperties {
  /** What a call threw. undefined or null: nothing failed. */
  error: unknown;
  /** Where it fails in ways of its own. */
  errorText?: (error: unknown) => string;
}

export function CallFault({ error, errorText }: CallFaultProperties) {
  const usualText = useErrorText();
  if (error === undefined || error === null) return undefined;
  // The session has ended. The sign-in says so, and the form is there again after it.
  if (error instanceof ApiError && error.status === 401) return undefined;
  return <Fault text={(errorText ?? usualText)(error)} />;
}
