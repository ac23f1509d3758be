/** A list with its filters, and what stands in its place while it loads, is empty or could not be read. */
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { EmptyState } from '../states/empty-state.tsx';
import { ErrorState } from '../states/error-state.tsx';
import { TableSkeleton } from '../states/table-skeleton.tsx';
import type { CursorList } from './cursor-list.ts';
import { type Filter, FilterBar, type FilterValues } from './filter-bar.tsx';
import { type Column, RecordTable } from './record-table.tsx';

interface ListPageProperties<Row, Name extends string> {
  /** What the rows are: "Deliveries". */
  label: string;
  list: CursorList<Row>;
  columns: readonly Column<Row>[];
  rowId: (row: Row) => string;
  hasTallRows?: boolean;
  filters?: readonly Filter<Name>[];
  values?: FilterValues<Name>;
  onFilter?: (change: FilterValues<Name>) => void;
  /** What can be done with the rows. It comes with them, and in the place of what stood there: so nothing is moved by it. */
  actions?: ReactNode;
  /** When there is nothing at all: an EmptyState that says what to do next. */
  empty: ReactNode;
}

export function ListPage<Row, Name extends string = never>(properties: ListPageProperties<Row, Name>) {
  const { filters = [], onFilter = () => undefined } = properties;
  const values: FilterValues<Name> = properties.values ?? {};
  return (
    <>
      {filters.length === 0 ? undefined : <FilterBar filters={filters} values={values} onChange={onFilter} />}
      <Content {...properties} isFiltered={filters.some(({ name }) => values[name] !== undefined)} />
    </>
  );
}

function Content<Row, Name extends string>({
  list,
  label,
  columns,
  rowId,
  hasTallRows = false,
  actions,
  empty,
  isFiltered,
}: ListPageProperties<Row, Name> & { isFiltered: boolean }) {
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
  if (list.error !== null && list.error !== undefined)
    return <ErrorState error={list.error} onRetry={list.retry} />;
  if (isFiltered) return <EmptyState title={t('nothingFound')} text={t('nothingFoundText')} />;
  return <>{empty}</>;
}
