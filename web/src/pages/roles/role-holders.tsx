/** Who holds a role: the first of them, and the way to all. Contract: WEB-61. */
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { Section } from '../../blocks/page/section.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { ACCOUNT_PLACES, type Account, type Role, STATE_TONES } from '../accounts/account-data.ts';
import css from './role-holders.module.css';

const KINDS = ['EHR', 'STAFF'] as const;
/** Shown here; the lists have all. */
const FIRST = 5;
/** The height of one, as role-holders.module.css has it. */
const LINE_REM = 2.125;

export function RoleHolders({ role }: { role: Role }) {
  const t = useTranslations('role');
  const { may } = useSession();
  const { EHR: systems, STAFF: people } = role.holders;
  const seen = KINDS.filter((kind) => role.holders[kind] > 0 && may(ACCOUNT_PLACES[kind].permission));
  return (
    <Section
      title={t('heldBy')}
      text={systems + people === 0 ? t('holdersNone') : t('holders', { systems, people })}
      actions={
        <div className={css.ways}>
          {seen.map((kind) => (
            <Link key={kind} to={ACCOUNT_PLACES[kind].list} search={{ role: role.id }}>
              {t(`all.${kind}`, { count: role.holders[kind] })}
            </Link>
          ))}
        </div>
      }
    >
      {seen.length > 0 ? <First roleId={role.id} count={systems + people} /> : undefined}
      {systems + people > 0 && seen.length === 0 ? (
        <p className={css.quiet}>{t('holdersHidden')}</p>
      ) : undefined}
    </Section>
  );
}

function First({ roleId, count }: { roleId: string; count: number }) {
  const t = useTranslations('role');
  const { data, error, refetch } = useQuery({
    queryKey: ['accounts', 'holders', roleId],
    queryFn: () => answered(api.GET('/accounts', { params: { query: { role: roleId, limit: FIRST } } })),
  });
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined)
    return (
      <div aria-busy="true">
        <Skeleton height={`${LINE_REM * Math.min(count, FIRST)}rem`} animate={false} />
      </div>
    );
  if (data.items.length === 0) return <p className={css.quiet}>{t('holdersElsewhere')}</p>;
  return (
    <ul className={css.holders}>
      {data.items.map((account) => (
        <Holder key={account.userId} account={account} />
      ))}
    </ul>
  );
}

function Holder({ account: { userId, email, userType, state } }: { account: Account }) {
  const words = useTranslations('accounts');
  return (
    <li>
      <Link to={ACCOUNT_PLACES[userType].one} params={{ accountId: userId }}>
        {email}
      </Link>
      <span className={css.quiet}>{words(`${userType}.one`)}</span>
      {state === 'active' ? undefined : (
        <StatusBadge tone={STATE_TONES[state]} label={words(`states.${state}`)} />
      )}
    </li>
  );
}
