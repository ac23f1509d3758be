/**
 * Rows of a list. Only those in view are in the document, so that 100,000 are as quick as ten; more are read as the end
 * comes near. Where there is no room for columns, each row is a card. Contract: WEB-10, WEB-73.
 */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useTranslations } from 'use-intl';
import { SendButton } from '../page/send-button.tsx';
import type { CursorList } from './cursor-list.ts';
import css from './record-table.module.css';

export interface Column<Row> {
  /** One or two words: headings never wrap. No two columns of a table have the same. */
  heading: string;
  /** Of the width that is left over, how many parts; default 1. */
  share?: number;
  /** Instead of a share: a fixed width, for dates and states: "11rem". */
  width?: string;
  isNumber?: boolean;
  cell: (row: Row) => ReactNode;
}

interface RecordTableProperties<Row> {
  /** What the rows are, for those who cannot see the heading. */
  label: string;
  columns: readonly Column<Row>[];
  list: CursorList<Row>;
  rowId: (row: Row) => string;
  /** Cells of several lines: what stands beside them begins at the same height. */
  hasTallRows?: boolean;
}

const ROW_HEIGHT = 42;
/** Up to here the menu stands above the page, and every list shows cards. */
const NARROW_SCREEN = '(max-width: 56rem)';
/** What a column without a width of its own needs for each of its parts. */
const LEAST_SHARE_REM = 5;
/** Rows left below the view when the next page is asked for. */
const AHEAD = 15;

export function RecordTable<Row>(properties: RecordTableProperties<Row>) {
  const { label, columns, list, rowId, hasTallRows = false } = properties;
  const table = useRef<HTMLTableElement>(null);
  const { rows, readMore, hasMore } = list;
  const offset = useOffset(table);
  const isNarrow = useIsNarrow(table, columns);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    scrollMargin: offset,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : rowId(row);
    },
  });
  const items = virtual.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  const isNearEnd = last !== undefined && last.index >= rows.length - AHEAD;
  useEffect(() => {
    if (isNearEnd && hasMore && list.error === null) readMore();
  }, [isNearEnd, hasMore, readMore, list.error]);

  return (
    <>
      <table
        className={[css.table, hasTallRows && css.tall, isNarrow && css.cards].filter(Boolean).join(' ')}
        ref={table}
        aria-label={label}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
      >
        <Headings columns={columns} />
        {/* Where rows are cards, the browser forgets by itself that they are rows. */}
        {/* biome-ignore-start lint/a11y/noRedundantRoles: as said */}
        <tbody role="rowgroup">
          <Gap height={first === undefined ? 0 : first.start - offset} columns={columns.length} />
          {items.map(({ index, key }) => {
            const row = rows[index];
            if (row === undefined) return undefined;
            return (
              <tr
                key={key}
                role="row"
                data-index={index}
                aria-rowindex={index + 2}
                ref={virtual.measureElement}
              >
                {columns.map(({ heading, isNumber, cell }) => (
                  <td
                    key={heading}
                    role="cell"
                    data-heading={heading}
                    className={isNumber ? css.number : undefined}
                  >
                    {cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Gap
            height={last === undefined ? 0 : virtual.getTotalSize() - (last.end - offset)}
            columns={columns.length}
          />
        </tbody>
        {/* biome-ignore-end lint/a11y/noRedundantRoles: as said */}
      </table>
      <Foot list={list} />
    </>
  );
}

function Headings<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  const shares = columns.reduce((sum, { width, share = 1 }) => sum + (width === undefined ? share : 0), 0);
  const widthOf = ({ width, share = 1 }: Column<Row>): CSSProperties => ({
    width: width ?? `${(share / shares) * 100}%`,
  });
  return (
    <>
      <colgroup>
        {columns.map((column) => (
          <col key={column.heading} style={widthOf(column)} />
        ))}
      </colgroup>
      {/* biome-ignore-start lint/a11y/noRedundantRoles: where rows are cards, the browser forgets them. */}
      <thead role="rowgroup" className={css.head}>
        <tr role="row">
          {columns.map(({ heading, isNumber }) => (
            <th key={heading} scope="col" role="columnheader" className={isNumber ? css.number : undefined}>
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      {/* biome-ignore-end lint/a11y/noRedundantRoles: as said */}
    </>
  );
}

/** The room of rows that are not in the document. */
function Gap({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return undefined;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus.
    <tr aria-hidden="true" className={css.gap}>
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

function Foot<Row>({ list }: { list: CursorList<Row> }) {
  const t = useTranslations('blocks');
  if (list.error !== null)
    return (
      <div className={css.foot} role="alert">
        <span>{t(list.isRestMissing ? 'restNotRead' : 'rowsNotRead')}</span>
        <SendButton variant="default" size="xs" onClick={list.retry}>
          {t('retry')}
        </SendButton>
      </div>
    );
  return (
    <div className={css.foot}>
      <span role="status">
        {list.isReadingMore
          ? t('readingMore')
          : t('shown', { count: list.rows.length, more: String(list.hasMore) })}
      </span>
      {list.hasMore ? (
        <SendButton variant="default" size="xs" onClick={list.readMore} isSending={list.isReadingMore}>
          {t('readMore')}
        </SendButton>
      ) : undefined}
    </div>
  );
}

/** Whether there is no room for columns. */
function useIsNarrow<Row>(
  table: { current: HTMLTableElement | null },
  columns: readonly Column<Row>[],
): boolean {
  const [isNarrow, setNarrow] = useState(false);
  const neededRem = columns.reduce(
    (sum, { width, share = 1 }) =>
      sum + (width === undefined ? share * LEAST_SHARE_REM : Number.parseFloat(width)),
    0,
  );
  useLayoutEffect(() => {
    const room = table.current?.parentElement;
    if (room === undefined || room === null) return;
    const measure = () => {
      const remPx = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      const { paddingLeft, paddingRight } = getComputedStyle(room);
      const roomPx = room.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      setNarrow(matchMedia(NARROW_SCREEN).matches || roomPx < neededRem * remPx);
    };
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(room);
    return () => watcher.disconnect();
  }, [table, neededRem]);
  return isNarrow;
}

/** How far below the top of the document the table begins. */
function useOffset(table: { current: HTMLTableElement | null }): number {
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      const top = table.current?.tBodies[0]?.getBoundingClientRect().top;
      if (top !== undefined) setOffset(Math.round(top + window.scrollY));
    };
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(document.body);
    return () => watcher.disconnect();
  }, [table]);
  return offset;
}
