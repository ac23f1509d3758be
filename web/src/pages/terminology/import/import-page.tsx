/** Maps from a file: what it would change is shown before it does. Contract: WEB-32, WEB-58, TERM-25. */
import { Button, FileInput, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { ApiError } from '../../../api/api-error.ts';
import { asChange } from '../../../app/queries.ts';
import { announce } from '../../../blocks/page/announcements.tsx';
import { PageHeader } from '../../../blocks/page/page-header.tsx';
import { Section } from '../../../blocks/page/section.tsx';
import { useErrorText } from '../../../blocks/states/error-text.ts';
import { CallFault } from '../../../blocks/states/fault.tsx';
import { type Level, mapsChanged } from '../draft.ts';
import { useFirstLevel, useLevels } from '../level.ts';
import { TerminologyTabs } from '../terminology-tabs.tsx';
import { ImportChanges } from './import-changes.tsx';
import css from './import-page.module.css';
import { MapImportReportView } from './import-report.tsx';
import { importMap, type MapImportReport } from './map-import.ts';

/** Each preview reads the whole file, and other changes of the maps wait for it: none for each letter that is typed. */
const TYPING_MS = 400;
/** Answers about the file: it is no map, too large, or of another kind. */
const REFUSES_FILE = new Set([400, 413, 415, 422]);

interface Choices {
  level: Level;
  columns: string;
  localSystem: string;
  targetSystem: string;
}

export function MapImportPage() {
  const t = useTranslations('mapImport');
  const errorText = useErrorText();
  const level = useFirstLevel();
  const [file, setFile] = useState<File | null>(null);
  const [choices, setChoices] = useState<Choices>({ level, columns: '', localSystem: '', targetSystem: '' });
  const [asked] = useDebouncedValue(choices, TYPING_MS);
  const isTyping = asked !== choices;
  const [done, setDone] = useState<MapImportReport>();
  const run = (dryRun: boolean): Promise<MapImportReport> =>
    importMap(file ?? '', isJson(file) ? 'application/fhir+json' : 'text/csv', {
      ...asked,
      dryRun,
      preview: dryRun ? undefined : preview.data?.preview,
    });
  const preview = useQuery({
    // Another file of the same name is another one; the moment of its change says so.
    queryKey: ['terminology', 'preview', file?.name, file?.size, file?.lastModified, asked],
    queryFn: () => run(true),
    enabled: file !== null && done === undefined,
  });
  const submit = useMutation({
    mutationFn: () => asChange(run(false)),
    onSuccess: async (report) => {
      setDone(report);
      await mapsChanged();
      announce({ kind: 'good', text: t('finished', { count: report.created + report.changed }) });
    },
    // The maps may have been changed since: what the page shows next is what they are now.
    onError: () => void preview.refetch(),
  });
  const seen = isTyping ? undefined : preview.data;
  const error = submit.error ?? (isTyping ? null : preview.error);
  const failure = (why: unknown) =>
    why instanceof ApiError && REFUSES_FILE.has(why.status)
      ? t('failed', { why: errorText(why) })
      : errorText(why);
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} />
      <TerminologyTabs />
      <div className={css.columns}>
        <FileForm
          file={file}
          choices={choices}
          isDone={done !== undefined}
          onFile={(chosen) => {
            submit.reset();
            setDone(undefined);
            setFile(chosen);
          }}
          onChoices={(change) => setChoices((old) => ({ ...old, ...change }))}
        />
        {file === null ? undefined : (
          <Section
            title={done === undefined ? t('preview') : t('done')}
            text={done === undefined ? t('previewText') : t('doneText')}
          >
            <CallFault error={error} errorText={failure} />
            {isTyping || preview.isFetching ? <p role="status">{t('reading')}</p> : undefined}
            <MapImportReportView
              report={done ?? seen}
              isDone={done !== undefined}
              isSending={submit.isPending}
              onImport={() => submit.mutate()}
            />
          </Section>
        )}
      </div>
      {done === undefined && seen !== undefined ? <ImportChanges report={seen} /> : undefined}
    </>
  );
}

interface FileFormProperties {
  file: File | null;
  choices: Choices;
  isDone: boolean;
  onFile: (file: File | null) => void;
  onChoices: (change: Partial<Choices>) => void;
}

function FileForm({ file, choices, isDone, onFile, onChoices }: FileFormProperties) {
  const t = useTranslations('mapImport');
  const field = (name: 'columns' | 'localSystem' | 'targetSystem') => ({
    label: t(name),
    value: choices[name],
    disabled: isDone,
    onChange: (event: { currentTarget: HTMLInputElement }) =>
      onChoices({ [name]: event.currentTarget.value }),
  });
  return (
    <Section title={t('chooseFile')}>
      <Stack gap="sm">
        <FileInput
          label={t('file')}
          description={t('fileHelp')}
          placeholder={t('chooseFile')}
          accept=".csv,.json,text/csv,application/json,application/fhir+json"
          value={file}
          onChange={onFile}
          clearable={false}
        />
        <NativeSelect
          label={t('level')}
          value={choices.level}
          data={useLevels()}
          disabled={isDone}
          onChange={(event) => onChoices({ level: event.currentTarget.value as Level })}
        />
        <details>
          <summary className={css.more}>{t('more')}</summary>
          <Stack gap="sm" mt="sm">
            <TextInput {...field('columns')} description={t('columnsHelp')} />
            <TextInput {...field('localSystem')} />
            <TextInput {...field('targetSystem')} placeholder="http://loinc.org" />
          </Stack>
        </details>
        {isDone ? (
          <Button variant="default" onClick={() => onFile(null)}>
            {t('another')}
          </Button>
        ) : undefined}
      </Stack>
    </Section>
  );
}

function isJson(file: File | null): boolean {
  return file !== null && /json$/i.test(`${file.name} ${file.type}`);
}
