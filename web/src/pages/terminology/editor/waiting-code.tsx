/** A local code that goes out without a standard code: what is known of it. */
import { useTranslations } from 'use-intl';
import type { Item } from '../../../api/answer.ts';
import { ZonedTime } from '../../../blocks/values/zoned-time.tsx';
import { Coded } from '../coded.tsx';
import css from './waiting-code.module.css';

export type UnmappedCode = Item<'/terminology/unmapped'>;

export function WaitingCode({ waiting }: { waiting: UnmappedCode }) {
  const t = useTranslations('mapEditor');
  const { localSystem, localCode, localDisplay, count, lastMetAt } = waiting;
  return (
    <div className={css.waiting}>
      <Coded code={localCode} display={localDisplay} system={localSystem} />
      <p className={css.sent}>{t.rich('sentTimes', { count, time: () => <ZonedTime at={lastMetAt} /> })}</p>
    </div>
  );
}
