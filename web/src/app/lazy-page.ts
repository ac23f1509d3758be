/** The code of a page, which is loaded when the page is opened. Contract: WEB-74. */
import { lazyRouteComponent } from '@tanstack/react-router';

/** The pages for which the console was loaded anew, until they are there. Each has a name of its own. */
const MARK = 'interchange-loaded-anew-';

/** The code did not come: the service is away, or has other files since an upgrade. PageFailure finds out which. */
export class PageNotLoaded extends Error {
  override name = 'PageNotLoaded';
  readonly page: string;

  constructor(page: string, options: ErrorOptions) {
    super(`The code of ${page} was not loaded.`, options);
    this.page = page;
  }
}

export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(async () => {
    try {
      const loaded = await load();
      sessionStorage.removeItem(MARK + name);
      return loaded;
    } catch (cause) {
      throw new PageNotLoaded(name, { cause });
    }
  }, name);
}

/** Loads the console anew for the sake of this page; false when that was done and did not help. */
export function loadAnewOnce(page: string): boolean {
  if (sessionStorage.getItem(MARK + page) !== null) return false;
  sessionStorage.setItem(MARK + page, '');
  location.reload();
  return true;
}
