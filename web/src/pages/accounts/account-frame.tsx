/** The page of one account: read, named, with its actions. Contract: WEB-22. */
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { CopiedValue } from '../../blocks/copies/copied-value.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { PageNotRead } from '../../blocks/states/page-not-read.tsx';
import { PageSkeleton } from '../../blocks/states/page-skeleton.tsx';
import { Details } from '../../blocks/values/details.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { AccountActions } from './account-actions.tsx';
import { ACCOUNT_PLACES, type Account, type AccountKind, readAccount, STATE_TONES } from './account-data.ts';
import { AccountSessions } from './account-sessions.tsx';

interface AccountFrameProperties {
  kind: AccountKind;
  accountId: string;
  /** What only this kind of account has, between its properties and its sessions. */
  children?: (account: Account) => ReactNode;
}

export function AccountFrame({ kind, accountId, children }: AccountFrameProperties) {
  const t = useTranslations('accounts');
  const query = useQuery(readAccount(accountId));
  const { data, isPending } = query;
  const back = <Link to={ACCOUNT_PLACES[kind].list}>{t(`${kind}.title`)}</Link>;
  if (isPending) return <PageSkeleton />;
  if (data === undefined) return <PageNotRead title={t(`${kind}.one`)} back={back} query={query} />;
  if (data.userType !== kind)
    return <Navigate to={ACCOUNT_PLACES[data.userType].one} params={{ accountId }} replace />;
  return (
    <>
      <PageHeader title={data.email} back={back} actions={<AccountActions account={data} />} />
      <Properties account={data} />
      {children?.(data)}
      <AccountSessions account={data} />
    </>
  );
}

function Properties({ account }: { account: Account }) {
  const t = useTranslations('accounts');
  const { session } = useSession();
  const { state, role, facilityIds, defaultFacilityId, userId, userType, createdAt, lastUsedAt } = account;
  const isSystem = userType === 'EHR';
  const nameOf = (id: string) => session.facilities.find((one) => one.id === id)?.name ?? id;
  const facilities = facilityIds.map((id) =>
    id === defaultFacilityId && facilityIds.length > 1
      ? t('isDefault', { facility: nameOf(id) })
      : nameOf(id),
  );
  return (
    <Section title={t('properties')}>
      <Details
        items={[
          [
            t('state'),
            <span key="state">
              <StatusBadge tone={STATE_TONES[state]} label={t(`states.${state}`)} /> {t(`stateHelp.${state}`)}
            </span>,
          ],
          [
            t('role'),
            <Link key="role" to="/roles/$roleId" params={{ roleId: role.id }}>
              {role.name}
            </Link>,
          ],
          [t('facilities'), facilities.join(', ')],
          isSystem ? undefined : [t('secondFactor'), account.secondFactor ? t('hasHelp') : t('hasNotHelp')],
          // Of a system, the quick start says it.
          isSystem ? undefined : [t('userId'), <CopiedValue key="id" name={t('userId')} value={userId} />],
          [t('created'), <ZonedTime key="created" at={createdAt} />],
          [t('lastUsed'), lastUsedAt === null ? t('notUsed') : <ZonedTime key="used" at={lastUsedAt} />],
        ]}
      />
    </Section>
  );
}
