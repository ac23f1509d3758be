/** A list that the service gives page by page: the pages that were read so far, and the way to the next. */
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Answer, Item } from '../../api/answer.ts';
import { answered, api, type Outcome } from '../../api/api.ts';
import type { paths } from '../../api/schema.d.ts';
import { queries } from '../../app/queries.ts';
import { BY_ITSELF, useWatch } from '../../app/watch.ts';

export interface ListPart<Row> {
  items: readonly Row[];
  nextCursor: string | null;
}

export interface CursorList<Row> {
  rows: readonly Row[];
  isPending: boolean;
  /** Of the first page, or of a later one; null: none. */
  error: unknown;
  /** It is of a page behind the rows that are shown. */
  isRestMissing: boolean;
  hasMore: boolean;
  isReadingMore: boolean;
  readMore: () => void;
  retry: () => void;
}

/** A list that is read again by itself while something in it runs. */
interface WatchedList<Row> {
  everyMs: number;
  isOn: (rows: readonly Row[]) => boolean;
}

/**
 * `key` names the list and every filter: another filter is another list. `headers` go along with the call where the list is
 * `watched`.
 */
export function useCursorList<Row, Part extends ListPart<Row> = ListPart<Row>>(
  key: readonly unknown[],
  read: (cursor: string | undefined, headers: Record<string, string>) => Promise<Part>,
  watched: WatchedList<Row> = { everyMs: 0, isOn: () => false },
): CursorList<Row> & { first: Part | undefined } {
  const reading = (headers: Record<string, string>) =>
    infiniteQueryOptions({
      queryKey: key,
      queryFn: ({ pageParam }) => read(pageParam, headers),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ nextCursor }: Part) => nextCursor ?? undefined,
    });
  const query = useInfiniteQuery(reading({}));
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  useWatch({
    isOn: watched.isOn(rows),
    error: query.error,
    everyMs: watched.everyMs,
    read: () => queries.fetchInfiniteQuery({ ...reading(BY_ITSELF), staleTime: 0 }),
  });
  return {
    rows,
    first: query.data?.pages[0],
    isPending: query.isPending,
    error: query.error,
    isRestMissing: query.isFetchNextPageError,
    hasMore: query.hasNextPage,
    isReadingMore: query.isFetchingNextPage,
    readMore: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
    },
    retry: () => void (query.isFetchNextPageError ? query.fetchNextPage() : query.refetch()),
  };
}

type ListPath = {
  [Path in keyof paths]: Answer<Path> extends ListPart<unknown> ? Path : never;
}[keyof paths];

/** As they stand in an address: what the service does not know, it refuses. */
type Filters<Path extends ListPath> = paths[Path] extends { get: { parameters: { query?: infer Query } } }
  ? { [Name in keyof Query as Exclude<Name, 'limit' | 'cursor'>]?: string | undefined }
  : never;

/** The list of a route: `key` names it together with the filters. */
export function useListOf<Path extends ListPath>(
  key: readonly unknown[],
  path: Path,
  filters: Filters<Path>,
): CursorList<Item<Path>> {
  const get = api.GET as (path: Path, request: object) => Promise<Outcome<ListPart<Item<Path>>>>;
  return useCursorList([...key, filters], (cursor) =>
    answered(get(path, { params: { query: { ...filters, limit: 50, cursor } } })),
  );
}

/** A list all of whose rows are there already. */
export function wholeList<Row>(rows: readonly Row[]): CursorList<Row> {
  const nothing = () => undefined;
  return {
    rows,
    isPending: false,
    error: null,
    isRestMissing: false,
    hasMore: false,
    isReadingMore: false,
    readMore: nothing,
    retry: nothing,
  };
}
