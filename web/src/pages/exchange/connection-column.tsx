/**
 * Which connection a delivery went to: where there is more than one, two rows may be the same but for it. With a single
 * connection the column would say the same in each row, and takes no room. Contract: WEB-70.
 */
import { useTranslations } from 'use-intl';
import type { Column } from '../../blocks/list/record-table.tsx';
import { Identifier } from '../../blocks/values/identifier.tsx';
import css from './exchange.module.css';
import { type Delivery, useConnections } from './exchange-data.ts';

/** None or one. Who may not read connections sees their ids. */
export function useConnectionColumn(rows: readonly Delivery[]): Column<Delivery>[] {
  const t = useTranslations('exchange');
  const connections = useConnections() ?? [];
  const ids = new Set([...connections, ...rows.map(({ connectionId: id }) => ({ id }))].map(({ id }) => id));
  if (ids.size < 2) return [];
  return [
    {
      heading: t('connection'),
      share: 1.5,
      cell: ({ connectionId }) => {
        const name = connections.find(({ id }) => id === connectionId)?.name;
        if (name === undefined) return <Identifier id={connectionId} />;
        return (
          <span className={css.connection} title={name}>
            {name}
          </span>
        );
      },
    },
  ];
}
