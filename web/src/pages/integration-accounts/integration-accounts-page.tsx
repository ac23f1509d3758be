/** The accounts with which other systems sign in. Contract: WEB-20. */
import { getRouteApi } from '@tanstack/react-router';
import { AccountList } from '../accounts/account-list.tsx';

const route = getRouteApi('/shell/integration-accounts');

export function IntegrationAccountsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <AccountList
      kind="EHR"
      values={search}
      onFilter={(change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })}
    />
  );
}
