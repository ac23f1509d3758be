/**
 * What an import is called: as its file is, or, where nobody gave it a name, by what it was and how it came.
 * Contract: WEB-64.
 */
import { useTranslations } from 'use-intl';
import type { Import } from './import-data.ts';

export function useImportName(): (one: Import) => string {
  const kindOf = useImportKind();
  return (one) => one.fileName ?? kindOf(one);
}

/** "NDJSON lines, over HTTP". */
export function useImportKind(): (one: Import) => string {
  const t = useTranslations('imports');
  return ({ content, progress: { files }, way }) => {
    const what = files > 1 ? t('contents.files', { count: files }) : t(`contents.${content ?? 'unknown'}`);
    return t('kindOf', { what, way: t(`ways.${way}`) });
  };
}
