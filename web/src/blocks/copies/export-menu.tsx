/** A list as a file, in one of several forms. Each is in the command palette too. */
import { Button, Menu } from '@mantine/core';
import { Download } from 'lucide-react';
import { useTranslations } from 'use-intl';
import { send } from '../../api/api.ts';
import { arrived } from '../../api/api-error.ts';
import { useCommands } from '../dialogs/commands.ts';
import { announce } from '../page/announcements.tsx';
import { useErrorText } from '../states/error-text.ts';
import { saveFile } from './save-file.ts';

interface ExportForm {
  id: string;
  label: string;
  /** What answers with the file, below the address of calls. */
  path: string;
  fileName: string;
}

interface ExportMenuProperties {
  label: string;
  forms: readonly ExportForm[];
  /** What is said when it failed, and why. */
  failed: (why: string) => string;
}

export function ExportMenu({ label, forms, failed }: ExportMenuProperties) {
  const t = useTranslations('blocks');
  const errorText = useErrorText();
  async function save({ path, fileName }: ExportForm) {
    try {
      const answer = await send('GET', path);
      saveFile(fileName, await arrived(answer.blob()));
    } catch (error) {
      announce({ kind: 'bad', text: failed(errorText(error)) });
    }
  }
  useCommands(
    forms.map((form) => ({
      id: form.id,
      label: t('named', { name: label, what: form.label }),
      run: () => void save(form),
    })),
  );
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button variant="default" leftSection={<Download size={15} aria-hidden="true" />}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {forms.map((form) => (
          <Menu.Item key={form.id} onClick={() => void save(form)}>
            {form.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
