/** What stands beside a chart: round numbers, and times that people look for. */
import { useFormatter } from 'use-intl';

/** Of a power of ten. */
const STEPS = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10];

/** The round number that the highest bar fits below. */
export function topOf(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, highest)));
  return STEPS.map((one) => one * power).find((one) => one >= highest && Number.isInteger(one)) ?? highest;
}

/** The numbers beside the lines, the highest first; the half only where it is a whole number. */
export function marksOf(top: number): number[] {
  return top % 2 === 0 ? [top, top / 2, 0] : [top, 0];
}

interface Tick {
  /** From 0 at the left to 1 at the right. */
  at: number;
  label: string;
}

const HOURS_OF_DAY = 24;
/** Labels so near to an end would be cut off. */
const EDGE = 0.03;

/** For a day every six hours, for longer each midnight, as the facility's clock shows them. */
export function useTimeTicks(times: readonly Date[]): Tick[] {
  const format = useFormatter();
  const isDay = times.length <= HOURS_OF_DAY;
  return times.flatMap((time, index) => {
    const hour = Number.parseInt(format.dateTime(time, { hour: 'numeric', hourCycle: 'h23' }), 10);
    const at = index / times.length;
    if (hour % (isDay ? 6 : HOURS_OF_DAY) !== 0 || at < EDGE || at > 1 - EDGE) return [];
    const label =
      hour === 0
        ? format.dateTime(time, { weekday: 'short', day: 'numeric' })
        : format.dateTime(time, { hour: '2-digit', minute: '2-digit' });
    return [{ at, label }];
  });
}
