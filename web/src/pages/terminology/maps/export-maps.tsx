/** The maps as a file. Contract: WEB-32. */
import { useTranslations } from 'use-intl';
import { ExportMenu } from '../../../blocks/copies/export-menu.tsx';
import { useSession } from '../../../shell/session-context.tsx';

const FORMATS = [
  { level: 'organisation', format: 'csv', words: 'exportOrganisationCsv' },
  { level: 'organisation', format: 'conceptmap', words: 'exportOrganisationConceptMap' },
  { level: 'facility', format: 'csv', words: 'exportFacilityCsv' },
  { level: 'facility', format: 'conceptmap', words: 'exportFacilityConceptMap' },
] as const;

export function ExportMaps() {
  const t = useTranslations('terminologyMaps');
  const { facility } = useSession();
  const forms = FORMATS.map(({ level, format, words }) => ({
    id: `export-${level}-${format}`,
    label: t(words, { facility: facility?.name ?? '' }),
    path: `/terminology/maps/export?level=${level}&format=${format}`,
    fileName: `maps-${level}.${format === 'csv' ? 'csv' : 'json'}`,
  }));
  return <ExportMenu label={t('export')} forms={forms} failed={(why) => t('exportFailed', { why })} />;
}
