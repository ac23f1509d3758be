/** Pages of signed-in people lie below this route: the layout, or the sign-in in its place. Contract: WEB-5. */
import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../app/root-route.tsx';
import { Shell } from './shell.tsx';

export const shellRoute = createRoute({ getParentRoute: () => rootRoute, id: 'shell', component: Shell });
