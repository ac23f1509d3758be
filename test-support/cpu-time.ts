/** What work costs, however busy the machine is. */

/** Milliseconds of processor time that this process spends until the work is done. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
