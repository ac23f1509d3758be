/**
 * When a request to a FHIR server is tried again, and how long it may take (docs/publish.md).
 * Contract: PUB-26, PUB-27.
 */
import { delayAfterFailures, spreadDelay } from '../../outbound/backoff.ts';
import type { Clock, PublishSettings } from '../servers/publish-settings.ts';

type RetrySettings = PublishSettings['retry'];

/** Whether a status says that the same request may do later. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/**
 * Milliseconds to wait after `tries` tries, between half and the whole of the doubled delay, or as long as
 * `retry-after` says; undefined when no time would be left after that.
 */
export function delayAfter(
  settings: RetrySettings,
  tries: number,
  { leftMs, retryAfterMs }: { leftMs: number; retryAfterMs: number | undefined },
): number | undefined {
  const full = delayAfterFailures(settings, tries);
  const delay = Math.max(spreadDelay(full, { from: 0.5, to: 1 }, settings.random()), retryAfterMs ?? 0);
  return delay >= leftMs ? undefined : delay;
}

/** The tries of one resource. */
export interface Tries {
  /** A request begins. So many milliseconds are left for it; Infinity while nothing has failed. */
  begin(): number;
  /** The request that began last has failed: milliseconds until the next one; undefined when no time is left. */
  failed(retryAfterMs: number | undefined): number | undefined;
  /** The resource is stored, or given up. */
  end(): void;
}

export interface RetryBudget {
  /** Of one more resource. */
  tries(): Tries;
}

/** Time that is used up. */
interface UsedTime {
  /** Before the stretch that runs now. */
  beforeMs: number;
  /** Resources that fail now: while there is one, the time runs. */
  failing: number;
  /** When the stretch that runs now began; when the last one stopped. */
  fromMs: number;
  stoppedMs: number;
}

/**
 * The time in which one publish tries again. It runs while at least one resource fails: from the beginning of its
 * first request that failed until it is stored or given up.
 */
export function createRetryBudget(settings: RetrySettings, { nowMs }: Pick<Clock, 'nowMs'>): RetryBudget {
  const used: UsedTime = { beforeMs: 0, failing: 0, fromMs: 0, stoppedMs: Number.NEGATIVE_INFINITY };
  const runningMs = () => (used.failing === 0 ? 0 : nowMs() - used.fromMs);
  const leftMs = () => settings.budgetMs - used.beforeMs - runningMs();

  function run(beganMs: number): void {
    // What began while another stretch ran is counted from its end.
    const fromMs = Math.max(beganMs, used.stoppedMs);
    used.fromMs = used.failing === 0 ? fromMs : Math.min(fromMs, used.fromMs);
    used.failing += 1;
  }
  function stop(): void {
    if (used.failing === 1) {
      used.beforeMs += runningMs();
      used.stoppedMs = nowMs();
    }
    used.failing -= 1;
  }

  return {
    tries() {
      let beganMs = nowMs();
      let failures = 0;
      return {
        begin() {
          beganMs = nowMs();
          return used.failing === 0 && used.beforeMs === 0 ? Number.POSITIVE_INFINITY : leftMs();
        },
        failed(retryAfterMs) {
          if (failures === 0) run(beganMs);
          failures += 1;
          return delayAfter(settings, failures, { leftMs: leftMs(), retryAfterMs });
        },
        end() {
          if (failures > 0) stop();
        },
      };
    },
  };
}
