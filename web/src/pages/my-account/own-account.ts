/** What the service knows of one's own account, beside the session. */
import { useQuery } from '@tanstack/react-query';
import type { Answer, Item } from '../../api/answer.ts';
import { send } from '../../api/api.ts';
import { queries, readSessionAgain } from '../../app/queries.ts';

export type OwnSession = Item<'/sessions'>;
export type Passkey = Item<'/second-factor/passkeys'>;

export function useOwnSessions() {
  return useQuery({
    queryKey: ['own-account', 'sessions'],
    queryFn: () => read<Answer<'/sessions'>>('/sessions'),
  });
}

export function usePasskeys() {
  return useQuery({
    queryKey: ['own-account', 'passkeys'],
    queryFn: async () => (await read<Answer<'/second-factor/passkeys'>>('/second-factor/passkeys')).items,
  });
}

/** After a change, which may have ended other sessions, too. */
export async function readOwnAgain(): Promise<void> {
  await Promise.all([queries.refetchQueries({ queryKey: ['own-account'] }), readSessionAgain()]);
}

async function read<Body>(path: string): Promise<Body> {
  return (await (await send('GET', path)).json()) as Body;
}
