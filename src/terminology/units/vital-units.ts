/**
 * The units of vital signs: those that the R4 vital-signs profiles allow, how other units are converted to
 * them, and what sources write for them (R4, "Vital Signs"; UCUM).
 * Contract: IN-48, TERM-19, TERM-20, TERM-22.
 */
import { UCUM } from '../lookup/code-systems.ts';
import { type Conversion, convertDecimal, isConvertible } from './convert-decimal.ts';
import { differsInSize, type QuantityUnit } from './ucum.ts';

/** One unit that a vital sign may come in. */
interface KnownUnit {
  /** UCUM code of what is emitted. */
  ucum: string;
  /** How a value in this unit becomes one in `ucum`; absent where it is the same unit under another name. */
  convert?: Conversion;
}

/** Units of one kind of quantity, by UCUM code (as written) and by folded spelling. */
interface QuantityKind {
  /** UCUM codes that are emitted. */
  allowed: readonly string[];
  codes: ReadonlyMap<string, KnownUnit>;
  spellings: ReadonlyMap<string, KnownUnit>;
}

/** A measured quantity as the source gave it; `value` is decimal text in plain notation. */
export interface SourceQuantity extends QuantityUnit {
  value: string;
}

/** A quantity as it is emitted. */
export interface VitalQuantity {
  value: string;
  /** The source's text where the value is the source's; the UCUM code where the value was converted. */
  unit: string;
  system: typeof UCUM;
  code: string;
  /** True where the value is no longer the source's own. Keep the source's value and unit beside it. */
  converted: boolean;
}

/** Why a quantity cannot be emitted for its vital sign: no unit at all, or one that does not fit it. */
export interface UnitFault {
  fault: 'no-unit' | 'unit-does-not-fit';
  /** The UCUM codes that fit, for a message. */
  allowed: readonly string[];
}

/** UCUM codes that the profile of a vital sign allows, by LOINC code; undefined for signs without a fixed unit. */
export function allowedVitalUnits(loincCode: string): readonly string[] | undefined {
  return KINDS.get(loincCode)?.allowed;
}

/**
 * True where the unit text and the code name different units of one kind, so that nobody can tell what the number means:
 * `Cel` beside `[degF]`, `°C` beside `[degF]`, `g/L` beside `g/dL`.
 */
export function unitsDisagree({ unit, system, code }: QuantityUnit): boolean {
  if (unit === undefined || code === undefined || unit === code || (system ?? UCUM) !== UCUM) return false;
  const differs = [...KINDS.values()].some((kind) => {
    const coded = kind.codes.get(code);
    const said = coded && knownUnit(kind, unit);
    if (coded === undefined || said === undefined) return false;
    return coded.ucum !== said.ucum || coded.convert !== said.convert;
  });
  return differs || differsInSize(unit, code);
}

/**
 * A source quantity in a unit that the profile of the vital sign allows.
 *
 * A unit that is allowed as it is stays, value untouched; a spelling (`bpm`, `mmHg`, `lbs`) becomes its UCUM
 * code with the source's text kept in `unit`; any other known unit is converted, rounded as
 * {@link convertDecimal} says. Undefined for a LOINC code without a fixed unit.
 */
export function vitalQuantity(
  loincCode: string,
  source: SourceQuantity,
): VitalQuantity | UnitFault | undefined {
  const kind = KINDS.get(loincCode);
  if (kind === undefined) return undefined;
  const coded = source.system === undefined || source.system === UCUM ? source.code : undefined;
  const known = knownUnit(kind, coded) ?? knownUnit(kind, source.unit);
  if (known === undefined) {
    const named = (source.code ?? '') !== '' || (source.unit ?? '') !== '';
    return { fault: named ? 'unit-does-not-fit' : 'no-unit', allowed: kind.allowed };
  }
  if (known.convert !== undefined) {
    // More digits than can be measured: nothing is said in a unit that it was not converted to.
    if (!isConvertible(source.value)) return { fault: 'unit-does-not-fit', allowed: kind.allowed };
    const value = convertDecimal(source.value, known.convert);
    return { value, unit: known.ucum, system: UCUM, code: known.ucum, converted: true };
  }
  const unit = source.unit === undefined || source.unit === '' ? known.ucum : source.unit;
  return { value: source.value, unit, system: UCUM, code: known.ucum, converted: false };
}

function knownUnit(kind: QuantityKind, text: string | undefined): KnownUnit | undefined {
  if (text === undefined || text.length > LONGEST_UNIT) return undefined;
  return kind.codes.get(text) ?? kind.spellings.get(folded(text));
}

/** Characters of a unit at most; no longer text is one. */
const LONGEST_UNIT = 100;

/** Spellings are compared without case, dots and needless spaces; `²` is `2`, `℃` is `°C`. */
function folded(text: string): string {
  const plain = text.replaceAll('º', '°').normalize('NFKC').trim().toLowerCase().replaceAll('.', '');
  const parts = plain.split('/').map((part) => part.trim());
  return parts.join('/').replaceAll(/\s+/g, ' ');
}

/**
 * A kind from its allowed units with their spellings, and its other units with what they become. Spellings stand in one
 * text, between ` | `. One that starts with `=` is itself a UCUM code, compared with case.
 */
function quantityKind(
  allowed: Record<string, string>,
  others: readonly { spellings: string; to: string; convert: Conversion }[] = [],
): QuantityKind {
  const codes = new Map<string, KnownUnit>();
  const spellings = new Map<string, KnownUnit>();
  const place = (names: string, known: KnownUnit) => {
    for (const name of names.split(' | '))
      if (name.startsWith('=')) codes.set(name.slice(1), known);
      else spellings.set(name, known);
  };
  for (const [ucum, names] of Object.entries(allowed)) {
    codes.set(ucum, { ucum });
    spellings.set(folded(ucum), { ucum });
    place(names, { ucum });
  }
  for (const { spellings: names, to, convert } of others) place(names, { ucum: to, convert });
  return { allowed: Object.keys(allowed), codes, spellings };
}

const times = (numerator: bigint, denominator = 1n): Conversion => ({ numerator, denominator });

const PER_MINUTE = '=1/min | =min-1 | 1/min | per minute | per min | /minute | / min';
const HEART_RATE = quantityKind({
  '/min': `${PER_MINUTE} | ={beats}/min | ={beat}/min | bpm | beats/min | beats/minute | beats per minute | b/min`,
});
const BREATHS =
  'breaths/min | breaths/minute | breaths per minute | breath/min | br/min | bpm | brpm | rpm | resp/min | respirations/min';
const RESPIRATORY_RATE = quantityKind({
  '/min': `${PER_MINUTE} | ={breaths}/min | ={resp}/min | ${BREATHS}`,
});
const SATURATION = quantityKind({ '%': 'percent | pct | % o2 | %o2 | % spo2' });
const TEMPERATURE = quantityKind(
  {
    Cel: 'c | °c | ° c | degc | deg c | degrees c | celsius | degree celsius | degrees celsius',
    '[degF]': 'f | °f | ° f | degf | deg f | degrees f | fahrenheit | degree fahrenheit | degrees fahrenheit',
  },
  [{ spellings: '=K | k | kelvin', to: 'Cel', convert: { ...times(1n), offset: '-273.15' } }],
);
const LENGTH = quantityKind(
  {
    cm: 'cms | centimeter | centimeters | centimetre | centimetres',
    '[in_i]': 'in | ins | inch | inches | " | [in_i]',
  },
  [
    { spellings: '=m | m | meter | meters | metre | metres', to: 'cm', convert: times(100n) },
    {
      spellings: '=mm | mm | millimeter | millimeters | millimetre | millimetres',
      to: 'cm',
      convert: times(1n, 10n),
    },
    { spellings: "=[ft_i] | ft | foot | feet | '", to: '[in_i]', convert: times(12n) },
  ],
);
const WEIGHT = quantityKind(
  {
    kg: 'kgs | kilo | kilos | kilogram | kilograms | kilogramme | kilogrammes',
    g: 'gm | gms | gram | grams | gramme | grammes',
    '[lb_av]': 'lb | lbs | pound | pounds | [lb_av]',
  },
  [
    { spellings: '=mg | milligram | milligrams', to: 'g', convert: times(1n, 1000n) },
    { spellings: '=[oz_av] | oz | ounce | ounces | [oz_av]', to: '[lb_av]', convert: times(1n, 16n) },
    { spellings: '=[stone_av] | st | stone | stones | [stone_av]', to: '[lb_av]', convert: times(14n) },
  ],
);
const BODY_MASS_INDEX = quantityKind({
  'kg/m2':
    '=kg.m-2 | =kg/(m2) | kg/m^2 | kg/m**2 | kg/m*2 | kg/sqm | kg/sq m | kg/square meter | kg/square metre',
});
const PRESSURE = quantityKind(
  { 'mm[Hg]': 'mmhg | mm hg | mm[hg] | mm(hg) | torr | millimeters of mercury | millimetres of mercury' },
  [
    // UCUM defines m[Hg] as 133.3220 kPa, so 1 kPa is 1000/133.322 mm[Hg].
    {
      spellings: '=kPa | kpa | kilopascal | kilopascals',
      to: 'mm[Hg]',
      convert: times(1_000_000n, 133_322n),
    },
    { spellings: '=cm[Hg] | cmhg | cm hg', to: 'mm[Hg]', convert: times(10n) },
  ],
);

const KINDS: ReadonlyMap<string, QuantityKind> = new Map(
  Object.entries({
    '9279-1': RESPIRATORY_RATE,
    '8867-4': HEART_RATE,
    '2708-6': SATURATION,
    '59408-5': SATURATION,
    '8310-5': TEMPERATURE,
    '8302-2': LENGTH,
    '9843-4': LENGTH,
    '29463-7': WEIGHT,
    '39156-5': BODY_MASS_INDEX,
    '8480-6': PRESSURE,
    '8462-4': PRESSURE,
  }),
);
