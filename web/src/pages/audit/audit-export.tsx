/** What the filters mean, as a file. Contract: WEB-57. */
import { Button, Menu } from '@mantine/core';
import { Download } from 'lucide-react';
import { useTranslations } from 'use-intl';
import { send } from '../../api/api.ts';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { announce } from '../../blocks/page/announcements.tsx';
import { useErrorText } from '../../blocks/states/error-text.ts';
import { saveFile } from '../../blocks/values/save-file.ts';

const FORMATS = [
  { format: 'csv', words: 'exportCsv' },
  { format: 'ndjson', words: 'exportNdjson' },
] as const;

export function AuditExport({ filters }: { filters: Readonly<Record<string, string | undefined>> }) {
  const t = useTranslations('audit');
  const errorText = useErrorText();
  async function save(format: string) {
    const given = Object.entries(filters).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const query = new URLSearchParams([['format', format], ...given]);
    try {
      const answer = await send('GET', `/administration/audit/export?${query}`);
      saveFile(`audit.${format}`, await answer.blob());
    } catch (error) {
      announce({ kind: 'bad', text: t('exportFailed', { why: errorText(error) }) });
    }
  }
  const entries = FORMATS.map(({ format, words }) => ({
    id: `export-audit-${format}`,
    label: t(words),
    run: () => void save(format),
  }));
  useCommands(entries.map((entry) => ({ ...entry, label: `${t('export')}: ${entry.label}` })));
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button variant="default" leftSection={<Download size={15} aria-hidden="true" />}>
          {t('export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {entries.map(({ id, label, run }) => (
          <Menu.Item key={id} onClick={run}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
