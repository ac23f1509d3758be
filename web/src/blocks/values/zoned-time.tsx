/** A moment in the time zone of the facility, with the zone said; the exact instant is in the title. A date is as it is. */
import { useFormatter } from 'use-intl';
import css from './zoned-time.module.css';

interface ZonedTimeProperties {
  /** ISO 8601: an instant, or a day, month or year. */
  at: string | null | undefined;
  /** `minute` (default), `second`, or the `day` alone. */
  to?: 'day' | 'minute' | 'second';
}

const PARTS = {
  day: { dateStyle: 'medium' },
  minute: { dateStyle: 'medium', timeStyle: 'short' },
  second: { dateStyle: 'medium', timeStyle: 'medium' },
} as const;

export function ZonedTime({ at, to = 'minute' }: ZonedTimeProperties) {
  const format = useFormatter();
  if (at === null || at === undefined) return <span>–</span>;
  // It is in no zone: as a moment it would be the day before in some.
  if (!at.includes('T')) return <time dateTime={at}>{at}</time>;
  const moment = new Date(at);
  const zone = format
    .dateTime(moment, { timeZoneName: 'short', year: undefined })
    .split(/[\s,]+/)
    .at(-1);
  return (
    <time dateTime={at} title={at} className={css.time}>
      <span className={css.moment}>{format.dateTime(moment, PARTS[to])}</span>
      {to === 'day' ? undefined : ' '}
      {to === 'day' ? undefined : <span className={css.zone}>{zone}</span>}
    </time>
  );
}
