/** The maps as a file. Contract: WEB-32. */
import { Button, Menu } from '@mantine/core';
import { Download } from 'lucide-react';
import { useTranslations } from 'use-intl';
import { send } from '../../api/api.ts';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { announce } from '../../blocks/page/announcements.tsx';
import { useErrorText } from '../../blocks/states/error-text.ts';
import { saveFile } from '../../blocks/values/save-file.ts';
import { useSession } from '../../shell/session-context.tsx';

const FORMATS = [
  { level: 'organisation', format: 'csv', words: 'exportOrganisationCsv' },
  { level: 'organisation', format: 'conceptmap', words: 'exportOrganisationConceptMap' },
  { level: 'facility', format: 'csv', words: 'exportFacilityCsv' },
  { level: 'facility', format: 'conceptmap', words: 'exportFacilityConceptMap' },
] as const;

export function ExportMenu() {
  const t = useTranslations('terminologyMaps');
  const errorText = useErrorText();
  const { facility } = useSession();
  const name = facility?.name ?? '';

  async function save(level: string, format: string) {
    try {
      const answer = await send('GET', `/terminology/maps/export?level=${level}&format=${format}`);
      saveFile(`maps-${level}.${format === 'csv' ? 'csv' : 'json'}`, await answer.blob());
    } catch (error) {
      announce({ kind: 'bad', text: t('exportFailed', { why: errorText(error) }) });
    }
  }
  const entries = FORMATS.map(({ level, format, words }) => ({
    id: `export-${level}-${format}`,
    label: t(words, { facility: name }),
    run: () => void save(level, format),
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
