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

const NAME_CHARACTERS = 200;

/** As the service takes it: one line, of bounded length. Undefined when nothing is left of it. */
export function sentName(name: string): string | undefined {
  const line = name.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
  return line === '' ? undefined : [...line].slice(0, NAME_CHARACTERS).join('');
}
