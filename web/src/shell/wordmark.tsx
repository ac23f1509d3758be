import css from './wordmark.module.css';

/** The mark and the name of the product. */
export function Wordmark() {
  return (
    <span className={css.wordmark}>
      <svg viewBox="0 0 40 40" width="22" height="22" aria-hidden="true">
        <rect width="40" height="40" rx="9" className={css.field} />
        <path d="M8 15h20l-6-6M32 25H12l6 6" className={css.arrows} />
      </svg>
      interchange
    </span>
  );
}
