/** A list with its filters, and what stands in its place while it loads, is empty or could not be read. */
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { EmptyState } from '../states/empty-state.tsx';
import { ErrorState } from '../states/error-state.tsx';
import { TableSkeleton } from '../states/table-skeleton.tsx';
import type { CursorList } from './cursor-list.ts';
import { type Filter, FilterBar, type FilterValues, useAddressFilters } from './filter-bar.tsx';
import { type Column, RecordTable } from './record-table.tsx';

interface ListPageProperties<Row> {
  /** What the rows are: "Deliveries". */
  label: string;
  list: CursorList<Row>;
  columns: readonly Column<Row>[];
  rowId: (row: Row) => string;
  hasTallRows?: boolean;
  filters?: readonly Filter[];
  /** Where they are not in the address. */
  filterValues?: FilterValues;
  /** What can be done with the rows. It comes with them, and in the place of what stood there: so nothing is moved by it. */
  actions?: ReactNode;
  /** When there is nothing at all: an EmptyState that says what to do next. */
  empty: ReactNode;
}

export function ListPage<Row>(properties: ListPageProperties<Row>) {
  const inAddress = useAddressFilters();
  const { filters = [], filterValues = inAddress } = properties;
  const isFiltered = filters.some(({ name }) => filterValues.values[name] !== undefined);
  return (
    <>
      {filters.length === 0 ? undefined : <FilterBar filters={filters} {...filterValues} />}
      <Content {...properties} isFiltered={isFiltered} />
    </>
  );
}

function Content<Row>({
  list,
  label,
  columns,
  rowId,
  hasTallRows = false,
  actions,
  empty,
  isFiltered,
}: ListPageProperties<Row> & { isFiltered: boolean }) {
  const t = useTranslations('blocks');
  if (list.isPending)
    return (
      <div aria-busy="true">
        <span className="visually-hidden" role="status">
          {t('loading')}
        </span>
        <TableSkeleton />
      </div>
    );
  if (list.rows.length > 0)
    return (
      <>
        {actions}
        <RecordTable label={label} columns={columns} list={list} rowId={rowId} hasTallRows={hasTallRows} />
      </>
    );
  if (list.error !== null) return <ErrorState error={list.error} onRetry={list.retry} />;
  if (isFiltered) return <EmptyState title={t('nothingFound')} text={t('nothingFoundText')} />;
  return <>{empty}</>;
}
