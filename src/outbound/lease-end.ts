/** How long the holder of a lease may go on: what deliveries and publishes share. */

/** When a lease ends, by the clocks of its holder. */
export interface LeaseEnd {
  /** On the clock of `performance.now()`. */
  readonly ms: number;
  /** Whether it may end within `ms`: no request that may take so long is begun under it. */
  isWithin(ms: number): boolean;
}

/**
 * A lease that ends `afterMs` from now (docs/adr/0020). It is near when either clock says so: the one of
 * `performance.now()` stands still while the machine is suspended, and the wall clock, which is set right when it wakes
 * up, may be turned back.
 */
export function leaseEndAfter(afterMs: number, wallClock: () => Date): LeaseEnd {
  const endMs = performance.now() + afterMs;
  const wallEndMs = wallClock().getTime() + afterMs;
  return {
    ms: endMs,
    isWithin: (ms) => performance.now() + ms >= endMs || wallClock().getTime() + ms >= wallEndMs,
  };
}
