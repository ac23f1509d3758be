/** Counts what is under way for each network, up to a limit. Contract: SEC-9. */
export interface InFlight {
  /** One more is under way until `leave` is called; undefined when the network has as many as it may. */
  enter(network: string): { leave: () => void } | undefined;
}

export function createInFlight(limit: number): InFlight {
  const counts = new Map<string, number>();

  function enter(network: string): { leave: () => void } | undefined {
    const count = counts.get(network) ?? 0;
    if (count >= limit) return undefined;
    counts.set(network, count + 1);
    return { leave: () => leave(network) };
  }

  function leave(network: string): void {
    const left = (counts.get(network) ?? 0) - 1;
    if (left > 0) counts.set(network, left);
    else counts.delete(network);
  }

  return { enter };
}
