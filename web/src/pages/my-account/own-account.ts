/** What the service knows of one's own account, beside the session. */
import { useQuery } from '@tanstack/react-query';
import type { Item } from '../../api/answer.ts';
import { answered, api } from '../../api/api.ts';
import { queries, readSessionAgain } from '../../app/queries.ts';

export type OwnSession = Item<'/sessions'>;
export type Passkey = Item<'/second-factor/passkeys'>;

export function useOwnSessions() {
  return useQuery({
    queryKey: ['own-account', 'sessions'],
    queryFn: () => answered(api.GET('/sessions')),
  });
}

export function usePasskeys() {
  return useQuery({
    queryKey: ['own-account', 'passkeys'],
    queryFn: async () => (await answered(api.GET('/second-factor/passkeys'))).items,
  });
}

/** After a change, which may have ended other sessions, too. */
export async function readOwnAgain(): Promise<void> {
  await Promise.all([queries.refetchQueries({ queryKey: ['own-account'] }), readSessionAgain()]);
}
