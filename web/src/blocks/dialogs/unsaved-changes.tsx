/**
 * Asks before a page is left in whose form something is not saved. A reload is not asked about: the console loads itself
 * anew when somebody else signs in. Contract: WEB-76.
 */
import { useBlocker } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { ConfirmDialog } from './confirm-dialog.tsx';

export function UnsavedChanges({ areThere }: { areThere: boolean }) {
  const t = useTranslations('blocks');
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => areThere && current.pathname !== next.pathname,
    enableBeforeUnload: false,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      opened={status === 'blocked'}
      title={t('unsavedTitle')}
      text={t('unsavedText')}
      action={t('leave')}
      isDangerous
      onConfirm={async () => proceed?.()}
      onClose={() => reset?.()}
    />
  );
}
