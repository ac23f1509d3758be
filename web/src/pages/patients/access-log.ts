/** A patient's access log, page by page, and all that is filtered as CSV. Contract: WEB-37. */
import { csvCell } from '../../../../src/platform/csv-cell.ts';
import type { AccessAction } from '../../../../src/privacy/access-log/access-log.ts';
import type { Answer } from '../../api/answer.ts';
import { answered, api } from '../../api/api.ts';
import { saveFile } from '../../blocks/copies/save-file.ts';
import type { Purpose } from './purpose.tsx';

export type AccessLogPage = Answer<'/patients/base/{patientId}/access-log'>;
export type AccessEntry = AccessLogPage['items'][number];

interface AccessLogRequest {
  patientId: string;
  purpose: Purpose;
  filter: Partial<Record<'from' | 'to' | 'action' | 'account' | 'outcome', string | undefined>>;
}

const COLUMNS = [
  'occurredAt',
  'accountId',
  'accountEmail',
  'action',
  'resourceType',
  'resourceId',
  'purposeOfUse',
  'outcome',
  'correlationId',
  'connectionName',
] as const;

export function readAccessLog(
  { patientId, purpose, filter }: AccessLogRequest,
  cursor: string | undefined,
): Promise<AccessLogPage> {
  return answered(
    api.GET('/patients/base/{patientId}/access-log', {
      params: {
        path: { patientId },
        query: {
          ...filter,
          action: filter.action as AccessAction,
          outcome: filter.outcome as AccessEntry['outcome'],
          purposeOfUse: purpose,
          limit: 100,
          cursor,
        },
      },
    }),
  );
}

/** How many entries the file has. */
export async function exportAccessLog(
  request: AccessLogRequest,
  onProgress: (count: number) => void,
): Promise<number> {
  const lines: string[] = [COLUMNS.join(',')];
  let cursor: string | undefined;
  do {
    const page: AccessLogPage = await readAccessLog(request, cursor);
    for (const entry of page.items) lines.push(COLUMNS.map((name) => csvCell(entry[name] ?? '')).join(','));
    onProgress(lines.length - 1);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  const text = `${lines.join('\r\n')}\r\n`;
  saveFile(`access-log-${request.patientId}.csv`, new Blob([text], { type: 'text/csv' }));
  return lines.length - 1;
}
