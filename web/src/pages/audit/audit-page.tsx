import { useTranslations } from 'use-intl';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';

export function AuditPage() {
  const t = useTranslations();
  return (
    <>
      <PageHeader title={t('audit.title')} />
      <EmptyState title={t('shell.notBuilt')} text={t('shell.notBuiltText')} />
    </>
  );
}
