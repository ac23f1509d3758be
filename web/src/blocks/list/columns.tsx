/** Columns that many lists have. */
import { useFormatter } from 'use-intl';
import { ZonedTime } from '../values/zoned-time.tsx';
import type { Column } from './record-table.tsx';

/** Moments: wide enough for a date, a time and the zone. */
export function timeColumn<Row>(
  heading: string,
  momentOf: (row: Row) => string | null | undefined,
): Column<Row> {
  return { heading, width: '13.5rem', cell: (row) => <ZonedTime at={momentOf(row)} /> };
}

/** Counts, below each other by their digits. */
export function numberColumn<Row>(
  look: Pick<Column<Row>, 'heading' | 'width'>,
  numberOf: (row: Row) => number,
): Column<Row> {
  return { ...look, isNumber: true, cell: (row) => <Count of={numberOf(row)} /> };
}

function Count({ of: count }: { of: number }) {
  return useFormatter().number(count);
}
