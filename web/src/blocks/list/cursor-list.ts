/** A list that the service gives page by page: the pages that were read so far, and the way to the next. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

export interface ListPart<Row> {
  items: readonly Row[];
  nextCursor: string | null;
}

export interface CursorList<Row> {
  rows: readonly Row[];
  isPending: boolean;
  /** Of the first page, or of a later one. */
  error: unknown;
  hasMore: boolean;
  isReadingMore: boolean;
  readMore: () => void;
  retry: () => void;
}

/** `key` names the list and every filter: another filter is another list. */
export function useCursorList<Row, Part extends ListPart<Row> = ListPart<Row>>(
  key: readonly unknown[],
  read: (cursor: string | undefined) => Promise<Part>,
): CursorList<Row> & { first: Part | undefined } {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  return {
    rows,
    first: query.data?.pages[0],
    isPending: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    isReadingMore: query.isFetchingNextPage,
    readMore: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
    },
    retry: () => void (query.data === undefined ? query.refetch() : query.fetchNextPage()),
  };
}
