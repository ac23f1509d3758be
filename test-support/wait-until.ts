/** Waits for a condition that real processes bring about. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Fails, with the name of the condition, when it does not come about within two minutes. */
export async function waitUntil(
  condition: () => Promise<boolean>,
  name = condition.toString(),
): Promise<void> {
  const end = performance.now() + 120_000;
  while (!(await condition())) {
    if (performance.now() > end) assert.fail(`did not come about: ${name}`);
    await sleep(50);
  }
}
