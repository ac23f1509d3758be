/** Decides what a person sees: the sign-in, what is missing after it, or the page in its layout. Contract: WEB-5. */
import { useQuery } from '@tanstack/react-query';
import { Activity, Suspense, useState } from 'react';
import { sessionQuery } from '../api/session.ts';
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
  // Of somebody who has just set up a second factor. They are signed in, which a look at another tab tells.
  const [hasCodes, setHasCodes] = useState(false);
  // index.html says that it loads. Contract: WEB-78. It is asked for again by itself meanwhile, which takes seconds.
  if (isPending) return failureReason === null ? null : <NotRead error={failureReason} />;
  if (session === undefined) return <NotRead error={error} onRetry={() => void refetch()} />;
  const isIn = session?.state === 'signed-in' && !session.account.mustChangePassword && !hasCodes;
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
    if (hasCodes || session?.state === 'enrol-second-factor') return <EnrolPage onCodes={setHasCodes} />;
    if (session === null || session === undefined) return <SignInPage />;
    if (session.state === 'second-factor') return <SecondFactorPage methods={session.methods} />;
    return <ChangePasswordPage session={session} />;
  }
}

function NotRead({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <main>
      <ErrorState error={error} onRetry={onRetry} level={1} />
    </main>
  );
}
