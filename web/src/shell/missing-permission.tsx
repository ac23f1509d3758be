/** In place of a page that the person may not open: it says which permission is missing. Contract: WEB-7. */
import { Code } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { EmptyState } from '../blocks/states/empty-state.tsx';

export function MissingPermission({ permissions }: { permissions: readonly string[] }) {
  const t = useTranslations('shell');
  return (
    <EmptyState
      level={1}
      title={t('missingPermission')}
      text={t.rich('missingPermissionText', {
        count: permissions.length,
        names: () => (
          <>
            {permissions.map((name, index) => (
              <span key={name}>
                {index === 0 ? '' : ', '}
                <Code>{name}</Code>
              </span>
            ))}
          </>
        ),
      })}
    >
      <Link to="/">{t('toOverview')}</Link>
    </EmptyState>
  );
}
