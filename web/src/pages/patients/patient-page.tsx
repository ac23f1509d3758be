/** One patient: records as FHIR, privacy, who read what, and what was sent. Contract: WEB-35. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { ApiError } from '../../api/api-error.ts';
import type { components } from '../../api/schema.d.ts';
import { queries } from '../../app/queries.ts';
import { CopyButton } from '../../blocks/copies/copy-button.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { PageTabs } from '../../blocks/page/page-tabs.tsx';
import { NOT_FOUND } from '../../blocks/states/error-text.ts';
import { CallFault } from '../../blocks/states/fault.tsx';
import { PageNotRead } from '../../blocks/states/page-not-read.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { AccessLogTab } from './access-log-tab.tsx';
import { DeliveriesTab } from './deliveries-tab.tsx';
import css from './patient-page.module.css';
import { PrivacyTab } from './privacy-tab.tsx';
import { PublicationsTab } from './publications-tab.tsx';
import { PurposeField, purposeOf } from './purpose.tsx';
import { RecordsTab } from './records-tab.tsx';

type Patient = components['schemas']['PatientRecord'];

const TABS = ['records', 'privacy', 'accessLog', 'deliveries', 'publications'] as const;
/** The others are opened by what opens the page. */
const OPENED_BY: Partial<Record<(typeof TABS)[number], string[]>> = {
  accessLog: ['patients.access-log.read'],
  deliveries: ['exchange.deliveries.read'],
  publications: ['publish.publications.read'],
};
/** For one purpose, a patient may refuse to be read. What was read and sent, and the setting itself, can still be looked at. */
const REFUSED = 403;
const route = getRouteApi('/shell/patients/$patientId');

export function PatientPage() {
  const t = useTranslations('patient');
  const { patientId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { facility, may } = useSession();
  const purpose = purposeOf(search.purpose);
  const tab = TABS.find((one) => one === search.tab) ?? 'records';
  const tabs = TABS.filter((one) => one === tab || may(...(OPENED_BY[one] ?? [])));
  const key = ['patient', facility?.id, patientId];
  const query = useQuery({
    queryKey: [...key, purpose],
    queryFn: () =>
      answered(
        api.GET('/patients/base/{patientId}', {
          params: { path: { patientId }, query: { purposeOfUse: purpose } },
        }),
      ),
  });
  const { data: patient, error } = query;
  const back = (
    <Link to="/patients" search={{ purpose: search.purpose }}>
      {t('back')}
    </Link>
  );
  const status = error instanceof ApiError ? error.status : undefined;
  // For one purpose or another.
  const wasRead = queries.getQueriesData({ queryKey: key }).some(([, read]) => read !== undefined);
  const stays = status === REFUSED || (wasRead && status !== NOT_FOUND);
  if (error !== null && !stays) return <PageNotRead title={t('title')} back={back} query={query} />;
  return (
    <>
      <PageHeader
        title={patient?.name ?? t('title')}
        windowTitle={t('title')}
        text={<Summary patientId={patientId} patient={patient} purpose={search.purpose} />}
        back={back}
        actions={
          <PurposeField
            value={purpose}
            onChange={(chosen) => void navigate({ search: (old) => ({ ...old, purpose: chosen }) })}
          />
        }
      />
      <CallFault error={error} />
      <PageTabs label={t('views')}>
        {tabs.map((one) => (
          <Link
            key={one}
            to="/patients/$patientId"
            params={{ patientId }}
            search={{ tab: one, purpose: search.purpose }}
            preload={false}
            activeOptions={{ includeSearch: true }}
            aria-current={one === tab ? 'page' : undefined}
          >
            {t(`tabs.${one}`)}
          </Link>
        ))}
      </PageTabs>
      {tab === 'records' ? <RecordsTab patientId={patientId} purpose={purpose} /> : undefined}
      {tab === 'privacy' ? <PrivacyTab patientId={patientId} /> : undefined}
      {tab === 'accessLog' ? <AccessLogTab patientId={patientId} purpose={purpose} /> : undefined}
      {tab === 'deliveries' ? <DeliveriesTab patientId={patientId} purpose={purpose} /> : undefined}
      {tab === 'publications' ? <PublicationsTab patientId={patientId} purpose={purpose} /> : undefined}
    </>
  );
}

interface SummaryProperties {
  patientId: string;
  patient: Patient | undefined;
  /** As the address has it. */
  purpose: string | undefined;
}

/** One line that tells whom the page is about. */
function Summary({ patientId, patient, purpose }: SummaryProperties) {
  const t = useTranslations('patient');
  const ofAll = useTranslations('patients');
  const facts = [
    patient?.birthDate,
    patient?.gender ? ofAll(`genders.${patient.gender}`) : undefined,
    ...(patient?.identifiers ?? []).map(({ value }) => value),
    patient?.deceased ? ofAll('deceased') : undefined,
  ].filter(Boolean);
  return (
    <span className={css.summary}>
      <span>{facts.length === 0 ? '–' : facts.join(' · ')}</span>
      <span className={css.id}>
        <span>{t('id')}</span>
        <code>{patientId}</code>
        <CopyButton text={patientId} label={useTranslations('blocks')('copyNamed', { name: t('copyId') })} />
      </span>
      {patient?.replacedBy ? (
        <Link to="/patients/$patientId" params={{ patientId: patient.replacedBy }} search={{ purpose }}>
          {t('replacedBy')} {patient.replacedBy}
        </Link>
      ) : undefined}
    </span>
  );
}
