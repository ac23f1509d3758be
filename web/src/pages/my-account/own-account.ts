/** What the service knows of one's own account, beside the session. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { send } from '../../api/api.ts';
import type { paths } from '../../api/schema.d.ts';
import { sessionQuery } from '../../api/session.ts';

type Answer<Path extends '/sessions' | '/second-factor/passkeys'> =
  paths[Path]['get']['responses'][200]['content']['application/json']['items'][number];

export type OwnSession = Answer<'/sessions'>;
export type Passkey = Answer<'/second-factor/passkeys'>;

export function useOwnSessions() {
  return useQuery({ queryKey: ['own-account', 'sessions'], queryFn: () => read<OwnSession>('/sessions') });
}

export function usePasskeys() {
  return useQuery({
    queryKey: ['own-account', 'passkeys'],
    queryFn: () => read<Passkey>('/second-factor/passkeys'),
  });
}

/** After a change, which may have ended other sessions, too. */
export function useReadOwnAgain(): () => Promise<unknown> {
  const client = useQueryClient();
  return () =>
    Promise.all([
      client.refetchQueries({ queryKey: ['own-account'] }),
      client.refetchQueries({ queryKey: sessionQuery.queryKey }),
    ]);
}

async function read<Item>(path: string): Promise<Item[]> {
  return ((await (await send('GET', path)).json()) as { items: Item[] }).items;
}
