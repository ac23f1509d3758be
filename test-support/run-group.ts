/**
 * Runs test files in one process (scripts/test-groups.ts), each as a suite. Each is loaded when the one before is done.
 *
 * node:test finds the suite that a test is written in by an async hook, which follows every promise. Once a file is
 * loaded all its suites and tests are known, and the hook costs a tenth of the processor time or more (docs/adr/0119). So
 * it is off while they run. An error outside of every promise that a test waits for then fails the process, not the test.
 */
import asyncHooks, { type AsyncHook, type HookCallbacks } from 'node:async_hooks';

export interface GroupFile {
  name: string;
  url: string;
}

export async function runGroup(files: readonly GroupFile[]): Promise<void> {
  const { describe, hook } = await loadTestRunner();
  process.on('uncaughtExceptionMonitor', sayWhere);
  process.on('unhandledRejection', sayWhere);
  for (const { name, url } of files)
    await outsideOfPromises(() => {
      hook()?.enable();
      return describe(name, async () => {
        await import(url);
        await outsideOfPromises(() => hook()?.disable());
      });
    });
}

/** node:test, and the hook that it makes with its first suite. It must not be loaded yet. */
async function loadTestRunner() {
  const { createHook } = asyncHooks;
  let made: AsyncHook | undefined;
  const keep = (callbacks: HookCallbacks): AsyncHook => {
    made = createHook(callbacks);
    return made;
  };
  Object.assign(asyncHooks, { createHook: keep });
  const { describe } = await import('node:test');
  Object.assign(asyncHooks, { createHook });
  return { describe, hook: () => made };
}

/** Calls it where no promise is followed: what is made there belongs to no suite, and a hook may begin or end. */
function outsideOfPromises<Value>(work: () => Value | Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** node:test says no more than the message of what belongs to no test. */
function sayWhere(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
}
