/** Until when the holder of a lease may begin to send under it (docs/adr/0020). */
export interface LeaseDeadline {
  /** On the clock of `performance.now()`. */
  readonly ms: number;
  passed(): boolean;
}

/**
 * A deadline `afterMs` from now. It has passed when either clock says so: the one of `performance.now()` stands still
 * while the machine is suspended, and the wall clock, which is set right when it wakes up, may be turned back.
 */
export function deadlineAfter(afterMs: number, wallClock: () => Date): LeaseDeadline {
  const ms = performance.now() + afterMs;
  const wallMs = wallClock().getTime() + afterMs;
  return { ms, passed: () => performance.now() >= ms || wallClock().getTime() >= wallMs };
}
