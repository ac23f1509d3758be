/** A real Chromium without a window, from npm; there is one for Linux on x64 only. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';
import { waitUntil } from '../wait-until.ts';

/** Why there is none, for `skip`; false where there is one. */
export const NO_BROWSER =
  process.platform === 'linux' && process.arch === 'x64' ? false : 'no Chromium for this platform';

/**
 * With the rules of the web as browsers have them; only the sandbox is off, which root cannot have. Every name
 * below `.test` is this machine.
 */
export async function startBrowser(): Promise<Browser> {
  return driver.launch({
    executablePath: await unpack(),
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--host-resolver-rules=MAP *.test 127.0.0.1'],
    headless: true,
  });
}

/** Into the temporary folder of the run, by the first process that wants it: another must not start half of it. */
async function unpack(): Promise<string> {
  const begun = join(tmpdir(), 'chromium-begun');
  const done = join(tmpdir(), 'chromium-done');
  const isFirst = await mkdir(begun).then(
    () => true,
    () => false,
  );
  if (!isFirst) await waitUntil(() => existsSync(done), 'Chromium is unpacked');
  const path = await chromium.executablePath();
  if (isFirst) await mkdir(done);
  return path;
}
