/** In place of a page that failed while it was drawn, or whose code did not arrive. Contract: WEB-74. */
import { useQuery } from '@tanstack/react-query';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { arrived, errorOf } from '../api/api-error.ts';
import { ErrorState } from '../blocks/states/error-state.tsx';
import { PageSkeleton } from '../blocks/states/page-skeleton.tsx';
import { basePath } from './address.ts';
import { loadAnewOnce, PageNotLoaded } from './lazy-page.ts';

export function PageFailure({ error, reset }: ErrorComponentProps) {
  if (error instanceof PageNotLoaded) return <NotLoaded error={error} />;
  return <ErrorState error={error} onRetry={reset} level={1} />;
}

/** Where the service answers, its files are others now: the console is loaded anew. Else somebody tries again. */
function NotLoaded({ error: notLoaded }: { error: PageNotLoaded }) {
  const {
    data: isLoading,
    error,
    isFetching,
    refetch,
  } = useQuery({
    queryKey: ['page-files', notLoaded.page],
    queryFn: async () => {
      await askForConsole();
      return loadAnewOnce(notLoaded.page);
    },
    retry: false,
    gcTime: 0,
  });
  if (isFetching || isLoading === true) return <PageSkeleton />;
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} level={1} />;
  return <ErrorState error={notLoaded} onRetry={() => location.reload()} level={1} />;
}

async function askForConsole(): Promise<void> {
  const response = await arrived(fetch(basePath, { method: 'HEAD', redirect: 'error', cache: 'no-store' }));
  if (!response.ok) throw errorOf(response, undefined);
}
