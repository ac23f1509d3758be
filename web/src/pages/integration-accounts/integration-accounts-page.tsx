/** The accounts with which other systems sign in. Contract: WEB-20. */
import { getRouteApi } from '@tanstack/react-router';
import { AccountList } from '../accounts/account-list.tsx';

const route = getRouteApi('/shell/integration-accounts');

export function IntegrationAccountsPage() {
  return <AccountList kind="EHR" search={route.useSearch()} />;
}
