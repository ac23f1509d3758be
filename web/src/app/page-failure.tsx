/** In place of a page that failed while it was drawn, or whose code did not arrive. */
import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorState } from '../blocks/states/error-state.tsx';

export function PageFailure({ error, reset }: ErrorComponentProps) {
  return <ErrorState error={error} onRetry={reset} level={1} />;
}
