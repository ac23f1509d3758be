/** The accounts of people: who signs in at the console. Contract: WEB-25. */
import { getRouteApi } from '@tanstack/react-router';
import { AccountList } from '../accounts/account-list.tsx';

const route = getRouteApi('/shell/people');

export function PeoplePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <AccountList
      kind="STAFF"
      values={search}
      onFilter={(change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })}
    />
  );
}
