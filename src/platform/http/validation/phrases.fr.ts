/** The phrases of `phrases.ts` in French. */
import type { NumberRange, Phrases } from './phrases.ts';

/** Types of JSON Schema. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'un texte',
  boolean: 'true ou false',
  integer: 'un nombre entier',
  number: 'un nombre',
  object: 'un objet',
  array: 'une liste',
  null: 'null',
};

export const FRENCH: Phrases = {
  invalidRequest: 'La requête n’est pas valable.',
  body: 'Le corps',
  property: 'Un champ',
  missing: (name, values) =>
    `${name} manque.${values === undefined ? '' : ` Valeurs possibles : ${values.join(', ')}.`}`,
  oneOf: (name, values) => `${name} doit avoir l’une de ces valeurs : ${values.join(', ')}.`,
  exactly: (name, value) => `${name} doit être ${value}.`,
  within: (name, range) => `${name} doit être ${rangeText(range)}.`,
  empty: (name) => `${name} ne doit pas être vide.`,
  tooShort: (name, min) => `${name} doit avoir au moins ${min} caractères.`,
  tooLong: (name, max) => `${name} doit avoir au plus ${max} caractères.`,
  tooFew: (name, min) => `${name} doit avoir au moins ${min} éléments.`,
  tooMany: (name, max) => `${name} doit avoir au plus ${max} éléments.`,
  tooOften: (name, max) => `${name} peut être donné au plus ${max} fois.`,
  once: (name) => `${name} doit être donné une seule fois.`,
  ofType: (name, type) => `${name} doit être ${typeText(type)}.`,
  unknownProperty: (name, known) =>
    `${name} a un champ inconnu.${known.length === 0 ? '' : ` Champs possibles : ${known.join(', ')}.`}`,
  misspelt: (name, given, meant) =>
    `${name === '' ? `Le paramètre ${given} est inconnu` : `${name} a le champ inconnu ${given}`}. Vouliez-vous dire ${meant} ?`,
  invalid: (name) => `${name} n’est pas valable.`,
};

/** A choice of types is written `string,null`. */
function typeText(type: string): string {
  return type
    .split(',')
    .map((one) => TYPES[one] ?? one)
    .join(' ou ');
}

function rangeText({ kind, min, max }: NumberRange): string {
  const what = kind === 'integer' ? 'un nombre entier' : 'un nombre';
  if (min !== undefined && max !== undefined) return `${what} de ${min} à ${max}`;
  if (min !== undefined) return `${what}, au moins ${min}`;
  return max === undefined ? what : `${what}, au plus ${max}`;
}
