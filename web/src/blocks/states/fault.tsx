/** A sentence about what went wrong, at the top of a form. It is read out when it appears. */
import css from './fault.module.css';

export function Fault({ text }: { text: string | undefined }) {
  if (text === undefined || text === '') return undefined;
  return (
    <p role="alert" className={css.fault}>
      {text}
    </p>
  );
}
