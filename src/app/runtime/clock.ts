/** What a process says about its clock: in the log when that changes, and as a metric. Contract: OPS-20. */
import { Gauge, type Registry } from 'prom-client';
import type { ClockWatch } from '../../platform/db/clock-watch.ts';
import type { Log } from '../../platform/log/log.ts';

/** `5 s ahead of`, `3456000 s behind`; to be followed by the database. */
export function skewText({ aheadSeconds }: Pick<ClockWatch, 'aheadSeconds'>): string {
  const ahead = Math.round(aheadSeconds());
  return `${Math.abs(ahead)} s ${ahead < 0 ? 'behind' : 'ahead of'} the database`;
}

export function logClock(log: Log, clock: Pick<ClockWatch, 'isOff' | 'aheadSeconds'>): void {
  if (clock.isOff())
    log.error(
      { event: 'clock.off' },
      `the clock of this machine is ${skewText(clock)}. Correct the wrong one. Until then this process issues no tokens and removes no old data`,
    );
  else log.info({ event: 'clock.right' }, 'the clock of this machine agrees with the database again');
}

export function registerClockGauge(registry: Registry, clock: Pick<ClockWatch, 'aheadSeconds'>): void {
  new Gauge({
    name: 'interchange_clock_skew_seconds',
    help: 'Difference between the clock of the process and the clock of the database, in seconds, never negative.',
    registers: [registry],
    // Of several processes of one machine: the worst.
    aggregator: 'max',
    collect() {
      this.set(Math.abs(clock.aheadSeconds()));
    },
  });
}
