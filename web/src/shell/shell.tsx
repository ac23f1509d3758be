/** Decides what a person sees: the sign-in, what is missing after it, or the page in its layout. Contract: WEB-5. */
import { useQuery } from '@tanstack/react-query';
import { Activity, Suspense, useState } from 'react';
import { type Session, sessionQuery } from '../api/session.ts';
import { lazyPage } from '../app/lazy-page.ts';
import { awaitedPerson } from '../app/queries.ts';
import { ErrorState } from '../blocks/states/error-state.tsx';
import { Layout } from './layout.tsx';
import { SessionProvider } from './session-context.tsx';

const SignInPage = lazyPage(() => import('../sign-in/sign-in-page.tsx'), 'SignInPage');
const SecondFactorPage = lazyPage(() => import('../sign-in/second-factor-page.tsx'), 'SecondFactorPage');
const EnrolPage = lazyPage(() => import('../sign-in/enrol-page.tsx'), 'EnrolPage');
const ChangePasswordPage = lazyPage(
  () => import('../passwords/change-password-page.tsx'),
  'ChangePasswordPage',
);

export function Shell() {
  const { data: session, error, failureReason, isPending, refetch } = useQuery(sessionQuery);
  const [codes, setCodes] = useRecoveryCodes(session);
  // index.html says that it loads. Contract: WEB-78. It is asked for again by itself meanwhile, which takes seconds.
  if (isPending) return failureReason === null ? null : <NotRead error={failureReason} />;
  if (session === undefined) return <NotRead error={error} onRetry={() => void refetch()} />;
  const isIn = session?.state === 'signed-in' && !session.account.mustChangePassword && codes === undefined;
  const person = isIn ? session : awaitedPerson();
  return (
    <>
      {person === undefined ? undefined : (
        <Activity mode={isIn ? 'visible' : 'hidden'}>
          {/* Of another person nothing stays, nor what was typed. */}
          <SessionProvider key={person.account.userId} session={person}>
            <Layout />
          </SessionProvider>
        </Activity>
      )}
      {isIn ? undefined : <Suspense fallback={null}>{entrance()}</Suspense>}
    </>
  );

  function entrance() {
    if (codes !== undefined || session?.state === 'enrol-second-factor')
      return <EnrolPage codes={codes} onCodes={setCodes} />;
    if (session === null || session === undefined) return <SignInPage />;
    if (session.state === 'second-factor') return <SecondFactorPage methods={session.methods} />;
    return <ChangePasswordPage session={session} />;
  }
}

/**
 * Of somebody who has just set up a second factor. They are signed in, which a look at another tab tells. The codes go with
 * the session: nobody else sees them.
 */
function useRecoveryCodes(session: Session | null | undefined) {
  const [shown, setShown] = useState<{ codes: readonly string[]; owner?: string }>();
  const account = session?.state === 'signed-in' ? session.account.userId : undefined;
  if (shown !== undefined && shown.owner === undefined && account !== undefined)
    setShown({ ...shown, owner: account });
  const isOver = session === null || (shown?.owner !== undefined && shown.owner !== account);
  if (shown !== undefined && isOver) setShown(undefined);
  const setCodes = (codes: readonly string[] | undefined) => setShown(codes && { codes });
  return [shown?.codes, setCodes] as const;
}

function NotRead({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <main>
      <ErrorState error={error} onRetry={onRetry} level={1} />
    </main>
  );
}
