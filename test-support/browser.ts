/** A real Chromium without a window, from npm; there is one for Linux on x64 only. */
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';

/** Why there is none, for `skip`; false where there is one. */
export const NO_BROWSER =
  process.platform === 'linux' && process.arch === 'x64' ? false : 'no Chromium for this platform';

/**
 * With the rules of the web as browsers have them; only the sandbox is off, which root cannot have. Every name
 * below `.test` is this machine.
 */
export async function startBrowser(): Promise<Browser> {
  return driver.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--host-resolver-rules=MAP *.test 127.0.0.1'],
    headless: true,
  });
}
