/** Signing out, before the sign-in is finished too. Where it fails, the person is still signed in, and is told so. */
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { ApiError } from '../api/api-error.ts';
import { signOut } from '../api/session.ts';
import { endSession } from '../app/queries.ts';
import { announce } from '../blocks/page/announcements.tsx';

export function useSignOut(): { signOut: () => void; isSending: boolean } {
  const t = useTranslations('shell');
  const { mutate, isPending } = useMutation({
    mutationFn: signOut,
    onSuccess: () => endSession('signed-out'),
    onError: (error) => {
      // The session had ended by itself.
      if (error instanceof ApiError && error.status === 401) endSession('signed-out');
      else announce({ kind: 'bad', text: t('signOutFailed') });
    },
  });
  return { signOut: mutate, isSending: isPending };
}
