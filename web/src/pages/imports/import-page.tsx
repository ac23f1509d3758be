/** One import: how far it is while it runs, and its report afterwards. Contract: WEB-48, WEB-64. */

import { Progress } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useFormatter, useTranslations } from 'use-intl';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { CallFault } from '../../blocks/states/fault.tsx';
import { PageNotRead } from '../../blocks/states/page-not-read.tsx';
import { PageSkeleton } from '../../blocks/states/page-skeleton.tsx';
import { Details } from '../../blocks/values/details.tsx';
import { InEnglish } from '../../blocks/values/in-english.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';
import { type Import, useImport } from './import-data.ts';
import { useImportKind, useImportName } from './import-name.ts';
import { ImportReportView } from './import-report.tsx';
import { ImportState } from './import-state.tsx';

const route = getRouteApi('/shell/imports/$importId');

export function ImportPage() {
  const t = useTranslations('imports');
  const nameOf = useImportName();
  const { importId } = route.useParams();
  const query = useImport(importId);
  const { data, error, isPending } = query;
  const back = <Link to="/imports">{t('back')}</Link>;
  if (isPending) return <PageSkeleton />;
  if (data === undefined) return <PageNotRead title={t('one')} back={back} query={query} />;
  return (
    <>
      <PageHeader title={nameOf(data)} windowTitle={t('one')} back={back} />
      <CallFault error={error} />
      <Summary one={data} />
      {data.state === 'running' ? <Running one={data} /> : undefined}
      {data.report === null ? undefined : <ImportReportView report={data.report} />}
    </>
  );
}

function Summary({ one }: { one: Import }) {
  const t = useTranslations('imports');
  const format = useFormatter();
  const kindOf = useImportKind();
  const { startedAt, finishedAt, startedBy, progress, failure } = one;
  /** A file is counted once all of it has arrived and is unpacked. */
  const mayHaveTaken = progress.files > 0;
  return (
    <Section title={t('summary')}>
      <Details
        items={[
          [t('state'), <ImportState key="state" one={one} />],
          failure === null
            ? undefined
            : [
                t('failure'),
                <span key="failure">
                  <InEnglish text={failure} /> {t('noReport')} {mayHaveTaken ? t('goOn') : undefined}
                </span>,
              ],
          one.fileName === null ? undefined : [t('kind'), kindOf(one)],
          [t('resources'), format.number(progress.resources)],
          [t('rejected'), format.number(progress.rejected)],
          [t('started'), <ZonedTime key="started" at={startedAt} to="second" />],
          [t('finished'), <ZonedTime key="finished" at={finishedAt} to="second" />],
          [t('by'), startedBy.kind === 'operator' ? t('operator') : startedBy.email],
        ]}
      />
    </Section>
  );
}

function Running({ one: { progress } }: { one: Import }) {
  const t = useTranslations('imports');
  const { doneBytes, totalBytes, resources } = progress;
  return (
    <Section title={t('running')} text={t('runningText')}>
      <Progress
        value={totalBytes === 0 ? 0 : (doneBytes / totalBytes) * 100}
        aria-label={t('running')}
        animated
      />
      <p role="status">{t('taken', { count: resources })}</p>
    </Section>
  );
}
