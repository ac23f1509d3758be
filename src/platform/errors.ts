/** What a list refuses, and how it is worded. */
import { domainErrors } from './domain-error.ts';

export const pageError = domainErrors(
  {
    bad_cursor: {
      status: 400,
      exitCode: 2,
      text: 'cursor does not belong to this search. Copy it unchanged from the previous page, and send the same parameters and headers.',
      command:
        '--cursor does not belong to this list. Copy it unchanged from the previous page, and give the same options.',
    },
  },
  {
    bad_cursor:
      'cursor n’appartient pas à cette recherche. Copiez-le tel quel de la page précédente, et envoyez les mêmes paramètres et en-têtes.',
  },
);
