/** The accounts of people: who signs in at the console. Contract: WEB-25. */
import { getRouteApi } from '@tanstack/react-router';
import { AccountList } from '../accounts/account-list.tsx';

const route = getRouteApi('/shell/people');

export function PeoplePage() {
  return <AccountList kind="STAFF" search={route.useSearch()} />;
}
