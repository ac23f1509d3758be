/** In place of a page, at an address that leads to none. */
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { EmptyState } from '../blocks/states/empty-state.tsx';

export function NotFound() {
  const t = useTranslations('shell');
  return (
    <EmptyState title={t('notFound')} text={t('notFoundText')} level={1}>
      <Link to="/">{t('toOverview')}</Link>
    </EmptyState>
  );
}
