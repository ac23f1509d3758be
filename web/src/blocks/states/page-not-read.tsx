/** In place of the page of one thing, which could not be read. */
import type { ReactNode } from 'react';
import { PageHeader } from '../page/page-header.tsx';
import { ErrorState } from './error-state.tsx';

interface PageNotReadProperties {
  /** What kind of thing it is. */
  title: string;
  /** To the list of them. */
  back: ReactNode;
  query: { error: unknown; refetch: () => Promise<unknown> };
}

export function PageNotRead({ title, back, query: { error, refetch } }: PageNotReadProperties) {
  return (
    <>
      <PageHeader title={title} back={back} />
      <ErrorState error={error} onRetry={() => void refetch()} way={back} />
    </>
  );
}
