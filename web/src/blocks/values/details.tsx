/** The properties of one thing: name and value, beside each other where there is room. */
import type { ReactNode } from 'react';
import css from './details.module.css';

export function Details({ items }: { items: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={css.details}>
      {items.map(([name, value]) => (
        <div key={name} className={css.item}>
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}
