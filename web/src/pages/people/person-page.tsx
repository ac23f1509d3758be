/** The account of one person. Contract: WEB-25. */
import { getRouteApi } from '@tanstack/react-router';
import { AccountFrame } from '../accounts/account-frame.tsx';

const route = getRouteApi('/shell/people/$accountId');

export function PersonPage() {
  const { accountId } = route.useParams();
  return <AccountFrame kind="STAFF" accountId={accountId} />;
}
