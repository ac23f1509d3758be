/** Where the console lies: the path before `assets/`, so that a proxy may put any prefix before it. Contract: WEB-3. */
const here = import.meta.url;

/** Begins and ends with a slash: `/console/`, or `/prefix/console/`. */
export const basePath = import.meta.env.DEV ? '/console/' : new URL('../', here).pathname;

/** The routes of the service, asked with the session cookie. */
export const apiBase = `${basePath}api`;
