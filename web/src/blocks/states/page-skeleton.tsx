/** While the code of a page is on its way: the shape of most pages. */
import { Skeleton } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { TableSkeleton } from './table-skeleton.tsx';

export function PageSkeleton() {
  const t = useTranslations('blocks');
  return (
    <div aria-busy="true">
      <span className="visually-hidden" role="status">
        {t('loading')}
      </span>
      <Skeleton height={28} width={220} mb="md" animate={false} />
      <Skeleton height={16} width="60%" mb="xl" animate={false} />
      <TableSkeleton rows={8} />
    </div>
  );
}
