import { useTranslations } from 'use-intl';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';

export function TerminologyPage() {
  const t = useTranslations();
  return (
    <>
      <PageHeader title={t('terminology.title')} />
      <EmptyState title={t('shell.notBuilt')} text={t('shell.notBuiltText')} />
    </>
  );
}
