/** A column of moments, wide enough for a date, a time and the zone. */
import { ZonedTime } from '../values/zoned-time.tsx';
import type { Column } from './record-table.tsx';

export function timeColumn<Row>(
  name: string,
  heading: string,
  momentOf: (row: Row) => string | null | undefined,
): Column<Row> {
  return { name, heading, width: '13.5rem', cell: (row) => <ZonedTime at={momentOf(row)} /> };
}
