/** The account of one system, with what its makers need for their first call. Contract: WEB-22, WEB-23. */
import { getRouteApi } from '@tanstack/react-router';
import { AccountFrame } from '../accounts/account-frame.tsx';
import { QuickStart } from './quick-start.tsx';

const route = getRouteApi('/shell/integration-accounts/$accountId');

export function IntegrationAccountPage() {
  const { accountId } = route.useParams();
  return (
    <AccountFrame kind="EHR" accountId={accountId}>
      {(account) => <QuickStart account={account} />}
    </AccountFrame>
  );
}
