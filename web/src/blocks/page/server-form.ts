/**
 * A form whose rules are the service's: it sends what was typed, and shows what the service said, at the field that it
 * names where there is one. Values are strings as typed.
 */
import { type ChangeEvent, type SubmitEvent, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';

interface ServerFormOptions<Values extends Record<string, string>> {
  values: Values;
  submit: (values: Values) => Promise<unknown>;
  /** Words in a message of the service, by the field that it is about. */
  faultsOf?: Partial<Record<keyof Values, RegExp>>;
}

export function useServerForm<Values extends Record<string, string>>(options: ServerFormOptions<Values>) {
  const [values, setValues] = useState(options.values);
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const atField = fieldOf(error, options.faultsOf ?? {});

  async function send() {
    if (isSending) return;
    setSending(true);
    setError(undefined);
    try {
      await options.submit(values);
    } catch (caught) {
      setError(caught);
      const name = fieldOf(caught, options.faultsOf ?? {});
      if (name !== undefined)
        document.querySelector<HTMLInputElement>(`[name="${CSS.escape(String(name))}"]`)?.focus();
    } finally {
      setSending(false);
    }
  }

  return {
    values,
    isSending,
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
      error: atField === name ? (error as ApiError).message : undefined,
      onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>) => {
        const { value } = event.currentTarget;
        setValues((old) => ({ ...old, [name]: value }));
      },
    }),
  };
}

function fieldOf<Name extends string | number | symbol>(
  error: unknown,
  faultsOf: Partial<Record<Name, RegExp>>,
): Name | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return (Object.keys(faultsOf) as Name[]).find((name) => faultsOf[name]?.test(error.message));
}
