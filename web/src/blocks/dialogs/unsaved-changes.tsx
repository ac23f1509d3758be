/**
 * Asks before a page is left in whose form something is not saved. A reload is not asked about: the console loads itself
 * anew when somebody else signs in. Contract: WEB-76.
 */
import { useBlocker } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslations } from 'use-intl';
import { ConfirmDialog } from './confirm-dialog.tsx';

type Leave = () => void;

/** Asks before the page is left; undefined where it may be. */
let ask: ((leave: Leave) => void) | undefined;

/** Says why the page is not left now, whatever is in its forms. */
let hold: (() => void) | undefined;

/** Leaves the page by another way than its address: at once, or after the question. */
export function leavePage(leave: Leave): void {
  if (hold !== undefined) hold();
  else if (ask !== undefined) ask(leave);
  else leave();
}

/** Until the returned function is called, the page is left by no such way: `told` says why. */
export function holdPage(told: () => void): () => void {
  const before = hold;
  hold = told;
  return () => {
    hold = before;
  };
}

/** Where a page has tabs, the form is in one of them. */
interface Place {
  pathname: string;
  search: object;
}

export function UnsavedChanges({ areThere }: { areThere: boolean }) {
  const t = useTranslations('blocks');
  const [waiting, setWaiting] = useState<Leave>();
  useEffect(() => {
    if (!areThere) return undefined;
    ask = (leave) => setWaiting(() => leave);
    return () => {
      ask = undefined;
    };
  }, [areThere]);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => areThere && !isSamePlace(current, next),
    enableBeforeUnload: false,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      opened={status === 'blocked' || waiting !== undefined}
      title={t('unsavedTitle')}
      text={t('unsavedText')}
      action={t('leave')}
      isDangerous
      onConfirm={async () => {
        proceed?.();
        waiting?.();
      }}
      onClose={() => {
        reset?.();
        setWaiting(undefined);
      }}
    />
  );
}

function isSamePlace(one: Place, other: Place): boolean {
  const tabOf = ({ search }: Place) => ('tab' in search ? search.tab : undefined);
  return one.pathname === other.pathname && tabOf(one) === tabOf(other);
}
