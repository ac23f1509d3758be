/** Rows as high as those that will come, so that nothing moves when they do. Contract: WEB-68. */
import { Skeleton } from '@mantine/core';
import css from './table-skeleton.module.css';

const WIDTHS = ['72%', '58%', '80%', '64%', '70%'];

export function TableSkeleton({ rows = 10 }: { rows?: number }) {
  return (
    <div className={css.table} aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without content.
        <div key={row} className={css.row}>
          <Skeleton height={12} width={WIDTHS[row % WIDTHS.length]} animate={false} />
        </div>
      ))}
    </div>
  );
}
