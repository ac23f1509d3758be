/** The secrets of a connection: which are in use, and since when. Their values were shown once. */
import { useTranslations } from 'use-intl';
import { Section } from '../../../blocks/page/section.tsx';
import { Details } from '../../../blocks/values/details.tsx';
import { StatusBadge } from '../../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../../blocks/values/zoned-time.tsx';
import css from '../exchange.module.css';
import type { Connection } from '../exchange-data.ts';

type ConnectionSecret = Connection['secrets'][number];

export function ConnectionSecrets({ connection: { secrets } }: { connection: Connection }) {
  const t = useTranslations('exchangeConnections');
  return (
    <Section title={t('secrets')} text={t('secretsText')}>
      <div className={css.secrets}>
        <Details
          items={secrets.map((secret) => [
            t(`directions.${secret.direction}`),
            <SecretLine key={secret.id} secret={secret} />,
          ])}
        />
      </div>
    </Section>
  );
}

function SecretLine({ secret }: { secret: ConnectionSecret }) {
  const t = useTranslations('exchangeConnections');
  const { createdAt, lastUsedAt } = secret;
  return (
    <>
      <SecretState secret={secret} />
      <div className={css.moment}>
        <span>{t('made')}</span> <ZonedTime at={createdAt} />
      </div>
      <div className={css.moment}>
        <span>{t('lastUsed')}</span>{' '}
        {lastUsedAt === null ? t('never').toLowerCase() : <ZonedTime at={lastUsedAt} />}
      </div>
    </>
  );
}

function SecretState({ secret: { activeFrom, goodUntil } }: { secret: ConnectionSecret }) {
  const t = useTranslations('exchangeConnections.secretStates');
  if (goodUntil !== null)
    return (
      <span className={css.badges}>
        <StatusBadge tone="quiet" label={t(Date.parse(goodUntil) > Date.now() ? 'ending' : 'ended')} />{' '}
        <ZonedTime at={goodUntil} />
      </span>
    );
  if (activeFrom === null) return <StatusBadge tone="warning" label={t('waiting')} />;
  if (Date.parse(activeFrom) > Date.now())
    return (
      <span className={css.badges}>
        <StatusBadge tone="running" label={t('planned')} /> <ZonedTime at={activeFrom} />
      </span>
    );
  return <StatusBadge tone="good" label={t('active')} />;
}
