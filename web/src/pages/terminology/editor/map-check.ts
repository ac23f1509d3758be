/**
 * Whether the service would take a mapping, while it is typed: LOINC check digits, the grammar of UCUM, how systems are
 * written. It is asked for a dry run of an import of this one mapping. Contract: WEB-31.
 */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useErrorText } from '../../../blocks/states/error-text.ts';
import { type Draft, type Level, withoutTarget } from '../draft.ts';
import { importMap } from '../import/map-import.ts';

/** `new`, `changes`, `unchanged`: what saving would do. */
export type MapCheck =
  | { state: 'idle' | 'checking' | 'new' | 'changes' | 'unchanged' }
  | { state: 'fault'; fault: string };

const TYPING_MS = 250;

export function useMapCheck(draft: Draft | undefined, level: Level): MapCheck {
  const errorText = useErrorText();
  const text = draft === undefined || !isComplete(draft) ? undefined : conceptMap(withoutTarget(draft));
  const [typed] = useDebouncedValue(text, TYPING_MS);
  const check = useQuery({
    queryKey: ['terminology', 'check', level, typed],
    queryFn: () => importMap(typed ?? '', 'application/fhir+json', { level, dryRun: true }),
    enabled: typed !== undefined,
  });
  if (text === undefined) return { state: 'idle' };
  if (text !== typed || check.isPending) return { state: 'checking' };
  if (check.error !== null) return { state: 'fault', fault: errorText(check.error) };
  const [rejected] = check.data.rejected;
  if (rejected !== undefined) return { state: 'fault', fault: sentence(rejected.reason) };
  if (check.data.created > 0) return { state: 'new' };
  return { state: check.data.changed > 0 ? 'changes' : 'unchanged' };
}

function isComplete({ localCode, targetSystem, targetCode, equivalence }: Draft): boolean {
  return localCode.trim() !== '' && targetSystem !== '' && (targetCode !== '' || equivalence === 'unmatched');
}

/** What is empty is left out. */
function conceptMap(draft: Draft): string {
  const target = {
    code: draft.targetCode || undefined,
    display: draft.targetDisplay || undefined,
    comment: draft.comment || undefined,
    equivalence: draft.equivalence,
  };
  const element = { code: draft.localCode, display: draft.localDisplay || undefined, target: [target] };
  const group = { source: draft.localSystem || undefined, target: draft.targetSystem, element: [element] };
  return JSON.stringify({ resourceType: 'ConceptMap', status: 'active', group: [group] });
}

/** The service tells what is wrong as a part of a sentence. */
function sentence(reason: string): string {
  return `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`;
}
