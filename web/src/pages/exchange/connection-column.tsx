/**
 * Which connection a delivery went to, or a callback came from: where there is more than one, two rows may be the same but
 * for it. With a single connection the column would say the same in each row, and takes no room, unless that one is disabled.
 * Contract: WEB-70.
 */
import { useTranslations } from 'use-intl';
import type { Filter } from '../../blocks/list/filter-bar.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { Identifier } from '../../blocks/values/identifier.tsx';
import { useSession } from '../../shell/session-context.tsx';
import css from './exchange.module.css';
import { MANAGE, useConnections } from './exchange-data.ts';

interface OfConnection {
  connectionId: string;
  /** Of a delivery, which waits while it is not. */
  connectionEnabled?: boolean;
}

/** None or one. Who may not read connections sees their ids. */
export function useConnectionColumn<Row extends OfConnection>(rows: readonly Row[]): Column<Row>[] {
  const t = useTranslations('exchange');
  const connections = useConnections() ?? [];
  const ids = new Set([...connections, ...rows.map(({ connectionId: id }) => ({ id }))].map(({ id }) => id));
  if (ids.size < 2 && rows.every((row) => row.connectionEnabled !== false)) return [];
  return [
    {
      heading: t('connection'),
      share: 1.5,
      cell: ({ connectionId, connectionEnabled }) => {
        const name = connections.find(({ id }) => id === connectionId)?.name;
        if (name === undefined) return <Identifier id={connectionId} />;
        const text = connectionEnabled === false ? t('connectionDisabled', { name }) : name;
        return (
          <span className={css.connection} title={text}>
            {text}
          </span>
        );
      },
    },
  ];
}

/** None or one, by name. Who may not read connections can still follow a link that names one: `chosen`, of the address. */
export function useConnectionFilter(chosen: string | undefined): Filter[] {
  const t = useTranslations('exchange');
  const { may } = useSession();
  const connections = useConnections() ?? [];
  const choices = connections.map(({ id, name }) => ({ value: id, label: name }));
  if (may(MANAGE)) return [{ name: 'connection', label: t('connection'), choices }];
  return chosen === undefined ? [] : [{ name: 'connection', label: t('connectionFilter'), kind: 'text' }];
}
