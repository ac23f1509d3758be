/** Names of what the audit log names by an id, as far as the person may know them. */
import { useSession } from '../../shell/session-context.tsx';
import { useConnections } from '../exchange/exchange-data.ts';

/** `hasConnections`: what is asked for may be a connection. */
export function useKnownName({
  hasConnections,
}: {
  hasConnections: boolean;
}): (id: string) => string | undefined {
  const { organisation, facilities } = useSession().session;
  const connections = useConnections({ wanted: hasConnections }) ?? [];
  return (id) => [organisation, ...facilities, ...connections].find((one) => one.id === id)?.name;
}
