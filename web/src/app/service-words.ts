/**
 * Words of the catalogue for what the service names by a code: permissions, actions, members. A code that this console does not
 * know, of a newer service, is shown as the service words it. Contract: WEB-67.
 */
import { useTranslations } from 'use-intl';

type Section =
  | 'permissions'
  | 'audit.actions'
  | 'audit.members'
  | 'audit.values'
  | 'patient.actions'
  | 'publishing.faults'
  | 'exchangeConnections.testResults';

/** The dots of a code are levels of the catalogue, so one code may be what others begin with. */
export function useServiceWords(section: Section) {
  const t = useTranslations(section);
  return (code: string, inItsWords = code, values: Record<string, string> = {}): string =>
    t.has(code as never) && typeof t.raw(code as never) === 'string'
      ? t(code as never, values as never)
      : inItsWords;
}
