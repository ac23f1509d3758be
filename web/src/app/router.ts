/** Addresses and pages. A page adds itself by one line in pages/index.ts. Contract: WEB-4. */
import { createRouter } from '@tanstack/react-router';
import * as pages from '../pages/index.ts';
import { openPasswordRoute, setPasswordRoute } from '../passwords/password-routes.ts';
import { nowhereRoute, shellRoute } from '../shell/shell-route.tsx';
import { basePath } from './address.ts';
import { PageFailure } from './page-failure.tsx';
import { rootRoute } from './root-route.tsx';

const routeTree = rootRoute.addChildren({
  openPasswordRoute,
  setPasswordRoute,
  shell: shellRoute.addChildren({ ...pages, nowhereRoute }),
});

export const router = createRouter({
  routeTree,
  basepath: basePath,
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailure,
  scrollRestoration: true,
  // The page of another thing is another page: nothing that was begun on the one, such as a form, is on the other.
  defaultRemountDeps: ({ params }) => params,
  // Every search parameter is a text, as people write it: no quotes around digits.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (values) => {
    const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text === '' ? '' : `?${text}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
