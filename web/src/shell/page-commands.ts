/** Every page that the person may open is in the command palette. */
import { useNavigate } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { useCommands } from '../blocks/dialogs/commands.ts';
import { useNavigation } from './navigation.tsx';

export function usePageCommands(): void {
  const t = useTranslations();
  const navigate = useNavigate();
  const entries = useNavigation();
  useCommands(
    entries.map(({ path, page }) => ({
      id: `page-${page.name}`,
      label: t(`${page.name}.title`),
      kind: t('shell.page'),
      run: () => void navigate({ to: path as '/' }),
    })),
  );
}
