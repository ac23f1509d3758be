/** What a check of the doctor came to. */
export type CheckOutcome = 'ok' | 'warning' | 'failed' | 'not applicable' | 'not run';

export interface Finding {
  check: string;
  outcome: CheckOutcome;
  /** One line: what was found. */
  text: string;
  /** What to do, where something is to be done. */
  remedy?: string;
}

/** A finding without the name of its check. */
export type CheckResult = Omit<Finding, 'check'>;

export const ok = (text: string): CheckResult => ({ outcome: 'ok', text });
export const warning = (text: string, remedy: string): CheckResult => ({ outcome: 'warning', text, remedy });
export const failed = (text: string, remedy: string): CheckResult => ({ outcome: 'failed', text, remedy });
export const notApplicable = (text: string): CheckResult => ({ outcome: 'not applicable', text });
export const notRun = (text: string): CheckResult => ({ outcome: 'not run', text });

/** `3 tables`, `1 table`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`;
}
