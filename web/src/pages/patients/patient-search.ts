/** What the list of patients is searched for. It stays with the entry of the history, and in no address. Contract: WEB-66. */
import { getRouteApi, useLocation } from '@tanstack/react-router';
import { keepText, keptText } from '../../app/unaddressed-texts.ts';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Key of the text. */
    patientSearch?: string;
  }
}

const route = getRouteApi('/shell/patients');

export function usePatientSearch(): [search: string | undefined, change: (text: string | undefined) => void] {
  const key = useLocation({ select: ({ state }) => state.patientSearch });
  const navigate = route.useNavigate();
  const change = (text: string | undefined) =>
    void navigate({
      search: (old) => old,
      state: (old) => ({ ...old, patientSearch: text === undefined ? undefined : keepText(text) }),
      replace: true,
    });
  return [keptText(key), change];
}
