/**
 * Says of a new password, while it is typed, what the service would say of it. The rules are the service's own; its list of
 * common passwords is loaded when the first password is long enough to be looked up. Contract: WEB-53.
 */
import { useEffect, useState } from 'react';
import { useTranslations } from 'use-intl';
import {
  PASSWORD_MIN_LENGTH,
  type PasswordFault,
  passwordFault,
} from '../../../src/sign-in/credentials/password-fault.ts';
import css from './password-strength.module.css';

/** From here on a password of several words is as hard to guess as one can ask for. */
const GOOD_LENGTH = 18;
const STEPS = [1, 2, 3] as const;

interface PasswordStrengthProperties {
  password: string;
  /** The address of the account, which the password may not be; '' where it is not known. */
  email?: string;
  /** The password until now, where it was typed. */
  old?: string;
  /** Of the input that this describes. */
  id: string;
}

interface Verdict {
  words: PasswordFault | 'accepted' | 'good' | 'rule' | 'typed';
  /** How many of the three steps are reached. */
  step: 0 | 1 | 2 | 3;
}

export function PasswordStrength({ password, email = '', old, id }: PasswordStrengthProperties) {
  const t = useTranslations('passwordStrength');
  const { words, step } = useVerdict(password, email, old);
  const tone = step === 1 ? css.bad : step === 2 ? css.fair : css.good;
  return (
    <div className={css.strength}>
      <div className={css.steps} aria-hidden="true">
        {STEPS.map((one) => (
          <span key={one} className={one <= step ? tone : undefined} />
        ))}
      </div>
      <p id={id} className={css.words} role="status">
        {words === 'typed' ? t('typed', { left: PASSWORD_MIN_LENGTH - [...password].length }) : t(words)}
      </p>
    </div>
  );
}

function useVerdict(password: string, email: string, old: string | undefined): Verdict {
  const [known, setKnown] = useState<Verdict>();
  useEffect(() => {
    if ([...password].length < PASSWORD_MIN_LENGTH) return undefined;
    let wanted = true;
    void verdictOf(password, email, old).then(
      (verdict) => {
        if (wanted) setKnown(verdict);
      },
      // Without the list, the service alone decides.
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [password, email, old]);
  if (password === '') return { words: 'rule', step: 0 };
  if ([...password].length < PASSWORD_MIN_LENGTH) return { words: 'typed', step: 1 };
  // Of the password one key ago, until that of now is known: nothing flickers.
  return known ?? { words: 'rule', step: 0 };
}

async function verdictOf(password: string, email: string, old: string | undefined): Promise<Verdict> {
  const fault = await passwordFault(password, email);
  if (fault !== undefined) return { words: fault, step: 1 };
  if (password === old) return { words: 'same', step: 1 };
  return [...password].length < GOOD_LENGTH ? { words: 'accepted', step: 2 } : { words: 'good', step: 3 };
}
