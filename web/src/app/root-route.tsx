/** What every page stands in. */
import { createRootRoute, Link, Outlet } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { EmptyState } from '../blocks/states/empty-state.tsx';

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: () => (
    <main>
      <NotFound />
    </main>
  ),
});

/** An address that leads to no page. */
export function NotFound() {
  const t = useTranslations('shell');
  return (
    <EmptyState title={t('notFound')} text={t('notFoundText')} level={1}>
      <Link to="/">{t('toOverview')}</Link>
    </EmptyState>
  );
}
