/** Recovery codes, which the service tells only now. Contract: WEB-51, WEB-77. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { Download } from 'lucide-react';
import { useTranslations } from 'use-intl';
import { CopyButton } from '../blocks/copies/copy-button.tsx';
import { saveFile } from '../blocks/copies/save-file.ts';
import { useStayForSecret } from '../blocks/dialogs/secret-once.tsx';
import css from './recovery-codes.module.css';

interface RecoveryCodesProperties {
  codes: readonly string[];
  onKept: () => void;
}

export function RecoveryCodes({ codes, onKept }: RecoveryCodesProperties) {
  const t = useTranslations('secondFactor');
  useStayForSecret(true);
  const text = `${codes.join('\n')}\n`;
  return (
    <Stack gap="md">
      <Text>{t('recoveryText')}</Text>
      <ol className={css.codes} aria-label={t('recoveryCodes')}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Button
            variant="default"
            leftSection={<Download size={15} aria-hidden="true" />}
            onClick={() =>
              saveFile('interchange-recovery-codes.txt', new Blob([text], { type: 'text/plain' }))
            }
          >
            {t('download')}
          </Button>
          <CopyButton text={text} label={t('copyAll')} />
        </Group>
        <Button onClick={onKept}>{t('kept')}</Button>
      </Group>
    </Stack>
  );
}
