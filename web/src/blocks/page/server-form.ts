/**
 * A form whose rules are the service's: it sends what was typed, and shows what the service said, at the field that it is
 * about where there is one. Values are strings as typed. Contract: WEB-69, WEB-77, WEB-80.
 */
import { useRouter } from '@tanstack/react-router';
import { type ChangeEvent, type SubmitEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import { ApiError } from '../../api/api-error.ts';
import { faultOfChange } from '../../app/queries.ts';
import { useTyped } from '../../app/unsaved-forms.ts';
import { holdPage } from '../dialogs/unsaved-changes.tsx';
import { announce } from './announcements.tsx';

interface ServerFormOptions<Values extends Record<string, string>> {
  values: Values;
  submit: (values: Values) => Promise<unknown>;
  /**
   * How messages about a field begin, in each language. Those that begin with the name of the value, as the interface
   * calls it, are about it anyhow.
   */
  aboutField?: AboutField<Values>;
  /** The answer is told only once: until it is there, no link and no way back leaves the page, also where the form is closed. */
  asksForSecret?: boolean;
}

type AboutField<Values> = Partial<Record<keyof Values, readonly string[]>>;

export function useServerForm<Values extends Record<string, string>>(options: ServerFormOptions<Values>) {
  const [values, setValues] = useState(options.values);
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const atField = fieldOf(error, options);
  const { history } = useRouter();
  const t = useTranslations('blocks');
  const isChanged = Object.keys(values).some((name) => values[name] !== options.values[name]);
  useTyped(!isSecret(values) && isChanged);

  function stay(): true {
    announce({ kind: 'good', text: t('secretToCome') });
    return true;
  }

  /** The label stands beside it: a person knows the field by that, not by the name that the interface has for it. */
  function messageAt(name: string): string {
    const { message } = error as ApiError;
    return message.startsWith(`${name} `)
      ? t('theValue', { fault: message.slice(name.length + 1) })
      : message;
  }

  async function send() {
    if (isSending) return;
    setSending(true);
    setError(undefined);
    const unblock = options.asksForSecret
      ? history.block({ blockerFn: stay, enableBeforeUnload: false })
      : undefined;
    const release = options.asksForSecret ? holdPage(stay) : undefined;
    try {
      await options.submit(values);
    } catch (caught) {
      setError(faultOfChange(caught));
      const name = fieldOf(caught, options);
      if (name !== undefined)
        document.querySelector<HTMLInputElement>(`[name="${CSS.escape(String(name))}"]`)?.focus();
    } finally {
      unblock?.();
      release?.();
      setSending(false);
    }
  }

  return {
    values,
    isSending,
    /** Something would be lost, unless it is on its way. */
    isUnsaved: isChanged && !isSending,
    /** What failed, unless it is shown at a field. */
    error: atField === undefined ? error : undefined,
    set: (change: Partial<Values>) => setValues((old) => ({ ...old, ...change })),
    reset: () => {
      setValues(options.values);
      setError(undefined);
    },
    onSubmit: (event: SubmitEvent<HTMLFormElement>) => {
      event.preventDefault();
      void send();
    },
    /** The properties of an input. */
    field: (name: keyof Values & string) => ({
      name,
      value: values[name],
      error: atField === name ? messageAt(name) : undefined,
      onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>) => {
        const { value } = event.currentTarget;
        setValues((old) => ({ ...old, [name]: value }));
      },
    }),
  };
}

/** Of what is typed into these forms, nothing outlives the session. */
function isSecret(values: Record<string, string>): boolean {
  return 'password' in values || 'code' in values;
}

function fieldOf<Values extends Record<string, string>>(
  error: unknown,
  { values, aboutField = {} }: Pick<ServerFormOptions<Values>, 'values' | 'aboutField'>,
): keyof Values | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const about: AboutField<Values> = aboutField;
  return Object.keys(values).find((name) =>
    [`${name} `, ...(about[name] ?? [])].some((beginning) => error.message.startsWith(beginning)),
  );
}
