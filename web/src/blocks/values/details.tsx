/** The properties of one thing: name and value, beside each other where there is room. */
import type { ReactNode } from 'react';
import css from './details.module.css';

type Detail = readonly [name: string, value: ReactNode];

/** What is undefined is left out. */
export function Details({ items }: { items: readonly (Detail | undefined)[] }) {
  return (
    <dl className={css.details}>
      {items
        .filter((one) => one !== undefined)
        .map(([name, value]) => (
          <div key={name} className={css.item}>
            <dt>{name}</dt>
            <dd>{value ?? '–'}</dd>
          </div>
        ))}
    </dl>
  );
}
