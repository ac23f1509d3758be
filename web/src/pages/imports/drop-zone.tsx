/** Where files are dropped or chosen. */
import { Button, FileButton } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslations } from 'use-intl';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import css from './imports.module.css';

const ACCEPTED = '.json,.ndjson,.gz,application/json,application/fhir+json,application/gzip';

export function DropZone({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const t = useTranslations('imports');
  const [isOver, setOver] = useState(false);
  const forget = useRef<() => void>(null);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same with the keyboard.
    <div
      className={`${css.drop} ${isOver ? css.over : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles(event.dataTransfer.files);
      }}
    >
      <div className={css.dropLine}>
        <span>{t('drop')}</span>
        <FileButton
          multiple
          accept={ACCEPTED}
          resetRef={forget}
          onChange={(files) => {
            onFiles(files);
            // So that the same file can be chosen again after it was mended.
            forget.current?.();
          }}
        >
          {({ onClick }) => <Choose onClick={onClick} />}
        </FileButton>
      </div>
      <p className={css.quiet}>{t('dropHelp')}</p>
    </div>
  );
}

function Choose({ onClick }: { onClick: () => void }) {
  const t = useTranslations('imports');
  const label = useTranslations('blocks')('named', { name: t('title'), what: t('choose') });
  useCommands([{ id: 'imports-choose', label, run: onClick }]);
  return (
    <Button size="xs" variant="default" onClick={onClick}>
      {t('choose')}
    </Button>
  );
}
