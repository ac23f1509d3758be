/** The chosen files: how far each is, what its check found, and the way to import it. Contract: WEB-47. */
import { Button, CloseButton, Progress } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { findFocus } from '../../app/focus.ts';
import { Section } from '../../blocks/page/section.tsx';
import { useErrorText } from '../../blocks/states/error-text.ts';
import { StatusBadge, type Tone } from '../../blocks/values/status-badge.tsx';
import { readRunning } from './import-data.ts';
import { ImportReportView } from './import-report.tsx';
import css from './imports.module.css';
import type { ImportReport } from './send-file.ts';
import type { Upload, useUploads } from './uploads.ts';

type Shown = Upload['phase'] | 'reading' | 'rejected' | 'nothing';

const TONES: Record<Shown, Tone> = {
  waiting: 'quiet',
  sending: 'running',
  reading: 'running',
  checked: 'good',
  imported: 'good',
  rejected: 'bad',
  nothing: 'warning',
  failed: 'bad',
};
const BYTES_OF_KILOBYTE = 1_000;
const BYTES_OF_MEGABYTE = 1_000_000;

export function UploadList({
  uploads,
  importNow,
  checkAgain,
  remove,
}: Omit<ReturnType<typeof useUploads>, 'add'>) {
  const t = useTranslations('imports');
  if (uploads.length === 0) return undefined;
  const checked = uploads.filter((upload) => shownOf(upload) === 'checked');
  const isSending = uploads.some(({ phase }) => phase === 'sending' || phase === 'waiting');
  return (
    <Section
      title={t('files')}
      text={isSending ? t('leave') : undefined}
      actions={
        checked.length < 2 ? undefined : (
          <Button
            size="xs"
            onClick={vanishing(() => {
              for (const { id } of checked) importNow(id);
            })}
          >
            {t('importAll', { count: checked.length })}
          </Button>
        )
      }
    >
      <ul className={css.files}>
        {uploads.map((upload) => (
          <UploadLine
            key={upload.id}
            upload={upload}
            onImport={vanishing(() => importNow(upload.id))}
            onCheck={vanishing(() => checkAgain(upload.id))}
            onRemove={vanishing(() => remove(upload.id))}
          />
        ))}
      </ul>
    </Section>
  );
}

/** What a button does that is gone afterwards: the focus does not go with it. Contract: WEB-4. */
function vanishing(act: () => void): () => void {
  return () => {
    act();
    findFocus();
  };
}

interface UploadLineProperties {
  upload: Upload;
  onImport: () => void;
  onCheck: () => void;
  onRemove: () => void;
}

function UploadLine({ upload, onImport, onCheck, onRemove }: UploadLineProperties) {
  const t = useTranslations('imports');
  const sizeText = useSizeText();
  const [isOpen, setOpen] = useState(false);
  const { file, phase, sentBytes, report, importId } = upload;
  const shown = shownOf(upload);
  const isRead = shown === 'reading';
  const mayImport = shown === 'checked' || (phase === 'failed' && upload.action === 'import');
  return (
    <li className={css.file}>
      <div className={css.fileTop}>
        <span className={css.fileName}>{file.name}</span>
        <span className={css.quiet}>{sizeText(file.size)}</span>
        <StatusBadge tone={TONES[shown]} label={t(`phases.${shown}`)} />
        <span className={css.fileActions}>
          {report === undefined || phase === 'sending' ? undefined : reportWay(report)}
          {mayImport ? (
            <Button size="xs" onClick={onImport}>
              {t('importOne')}
            </Button>
          ) : undefined}
          {phase === 'failed' && upload.action === 'check' ? (
            <Button variant="default" size="xs" onClick={onCheck}>
              {t('checkAgain')}
            </Button>
          ) : undefined}
          <CloseButton size="sm" aria-label={t('remove', { file: file.name })} onClick={onRemove} />
        </span>
      </div>
      {phase === 'sending' ? (
        <Progress
          value={file.size === 0 ? 100 : (sentBytes / file.size) * 100}
          aria-label={t('progress', { file: file.name })}
          size="sm"
          animated={isRead}
        />
      ) : undefined}
      <UploadText upload={upload} isRead={isRead} />
      {isOpen && report !== undefined ? (
        <div className={css.report}>
          <ImportReportView report={report} />
        </div>
      ) : undefined}
    </li>
  );

  /** Of a check, here: it is not kept. Of an import, its page. */
  function reportWay(of: ImportReport) {
    if (of.dryRun !== true)
      return (
        <Link to="/imports/$importId" params={{ importId }}>
          {t('report')}
        </Link>
      );
    return (
      <Button variant="default" size="xs" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
        {isOpen ? t('hideReport') : t('showReport')}
      </Button>
    );
  }
}

/** A file of which nothing is taken was not checked or imported well, whatever the call answered. */
function shownOf({ phase, file, sentBytes, report }: Upload): Shown {
  if (phase === 'sending' && sentBytes >= file.size) return 'reading';
  if ((phase !== 'checked' && phase !== 'imported') || report === undefined || takenOf(report) > 0)
    return phase;
  return report.rejectedCount > 0 ? 'rejected' : 'nothing';
}

function useSizeText(): (bytes: number) => string {
  const t = useTranslations('imports');
  const format = useFormatter();
  return (bytes) => {
    const isSmall = bytes < BYTES_OF_MEGABYTE;
    const size = isSmall ? Math.max(0.1, bytes / BYTES_OF_KILOBYTE) : bytes / BYTES_OF_MEGABYTE;
    const number = format.number(size, { maximumFractionDigits: isSmall ? 1 : 2 });
    return t(isSmall ? 'kilobytes' : 'megabytes', { size: number });
  };
}

function UploadText({ upload, isRead }: { upload: Upload; isRead: boolean }) {
  const t = useTranslations('imports');
  const errorText = useErrorText();
  const { phase, action, importId, report, error } = upload;
  return (
    <div className={css.fileText} role="status">
      {text()}
    </div>
  );

  function text() {
    if (phase === 'failed') return <span className={css.bad}>{errorText(error)}</span>;
    if (isRead && action === 'import') return <Watch importId={importId} />;
    if (report === undefined || (phase !== 'checked' && phase !== 'imported')) return undefined;
    const counts = { taken: takenOf(report), rejected: report.rejectedCount };
    return t(phase === 'checked' ? 'wouldTake' : 'hasTaken', counts);
  }
}

function Watch({ importId }: { importId: string }) {
  const t = useTranslations('imports');
  const { data } = useQuery(readRunning);
  const own = data?.items.find(({ id }) => id === importId);
  return own === undefined ? undefined : t('taken', { count: own.progress.resources });
}

function takenOf({ resources }: ImportReport): number {
  return Object.values(resources).reduce((sum, count) => sum + count, 0);
}
