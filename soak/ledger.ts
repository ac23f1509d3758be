/**
 * What the flows sent and what they were answered, kept outside of the service; and what that means for what the service
 * must show in the end. Pure: `verify.ts` fetches what it compares with.
 */

/** A request that came to the exchange. */
export interface Arrival {
  deliveryId: string;
  patient: number;
  /** Which of the patient's changes it tells of. */
  round: number;
  sequence: number;
  /** The correlation id of the try, under which it must be in the access log. */
  nonce: string;
  signed: boolean;
}

export interface PublishedResource {
  /** `Observation/<our id>`. */
  local: string;
  /** `Observation/<id at the server>`. */
  remote: string;
  version: number;
}

export interface Flow {
  sent: number;
  answered: number;
  /** Answered with what the service says when it cannot do something at the moment. */
  later: number;
  /** Not answered at all. */
  unanswered: number;
}

export interface Ledger {
  flows: Map<string, Flow>;
  /** What no outage explains, in one sentence each, without data. */
  faults: string[];
  /** The newest change of each patient that was answered. */
  rounds: Map<number, number>;
  arrivals: Arrival[];
  /** Requests that the exchange dropped, refused or answered late on purpose. */
  provoked: number;
  /** Correlation ids of reads and publishes that were answered with data. */
  accesses: string[];
  /** By `local`. */
  published: Map<string, PublishedResource>;
  /** Ids of deliveries whose callback was answered, with their patient. */
  confirmed: Map<string, number>;
  /** Local codes with the code that they were mapped to last. */
  maps: Map<string, string>;
}

export function createLedger(): Ledger {
  return {
    flows: new Map(),
    faults: [],
    rounds: new Map(),
    arrivals: [],
    provoked: 0,
    accesses: [],
    published: new Map(),
    confirmed: new Map(),
    maps: new Map(),
  };
}

/** A line of the table in the end. */
export interface Finding {
  what: string;
  expected: number;
  found: number;
  lost: number;
  /** In a wrong order, twice, or of another content. */
  wrong: number;
}

export function isGood({ lost, wrong }: Finding): boolean {
  return lost === 0 && wrong === 0;
}

/** Every change arrived, under one delivery id, and each patient's in the order in which they were made. */
export function judgeDeliveries({ rounds, arrivals }: Pick<Ledger, 'rounds' | 'arrivals'>): Finding[] {
  const first = new Map<number, Arrival[]>();
  const seen = new Set<string>();
  for (const arrival of arrivals) {
    if (seen.has(arrival.deliveryId)) continue;
    seen.add(arrival.deliveryId);
    first.set(arrival.patient, [...(first.get(arrival.patient) ?? []), arrival]);
  }
  let [expected, lost, wrong] = [0, 0, 0];
  for (const [patient, last] of rounds) {
    const of = first.get(patient) ?? [];
    const arrived = new Set(of.map(({ round }) => round));
    expected += last;
    for (let round = 1; round <= last; round += 1) if (!arrived.has(round)) lost += 1;
    wrong += disorder(of);
  }
  const strangers = [...first.keys()].filter((patient) => !rounds.has(patient)).length;
  const unsigned = arrivals.filter(({ signed }) => !signed).length;
  return [
    {
      what: 'changes of patients delivered',
      expected,
      found: expected - lost,
      lost,
      wrong: wrong + strangers,
    },
    {
      what: 'deliveries signed',
      expected: arrivals.length,
      found: arrivals.length - unsigned,
      lost: 0,
      wrong: unsigned,
    },
  ];
}

/** Of so many requests some must have been failed on purpose, or the soak is easier than it says. */
export function judgeProvoked({ arrivals, provoked }: Pick<Ledger, 'arrivals' | 'provoked'>): Finding {
  const isTooEasy = arrivals.length > 200 && provoked === 0;
  return {
    what: 'deliveries that the exchange failed or delayed on purpose',
    expected: provoked,
    found: provoked,
    lost: 0,
    wrong: isTooEasy ? 1 : 0,
  };
}

/**
 * How often a delivery came first that should not have: a gap or a step back in sequence, an older content, or a content
 * that another delivery brought already.
 */
function disorder(arrivals: readonly Arrival[]): number {
  let wrong = 0;
  for (const [index, { sequence, round }] of arrivals.entries()) {
    const before = arrivals[index - 1];
    if (sequence !== (before?.sequence ?? 0) + 1 || round <= (before?.round ?? 0)) wrong += 1;
  }
  return wrong;
}

/** Every expected key is there. */
export function judgePresence(what: string, expected: Iterable<string>, found: ReadonlySet<string>): Finding {
  const keys = [...new Set(expected)];
  const lost = keys.filter((key) => !found.has(key)).length;
  return { what, expected: keys.length, found: keys.length - lost, lost, wrong: 0 };
}

/** Every expected key has its value. */
export function judgeValues<Key>(
  what: string,
  expected: ReadonlyMap<Key, string>,
  found: ReadonlyMap<Key, string | undefined>,
): Finding {
  let [lost, wrong] = [0, 0];
  for (const [key, value] of expected) {
    const given = found.get(key);
    if (given === undefined) lost += 1;
    else if (given !== value) wrong += 1;
  }
  return { what, expected: expected.size, found: expected.size - lost - wrong, lost, wrong };
}

/** A resource of the FHIR server. */
export interface RemoteResource {
  /** `Observation/<id at the server>`. */
  key: string;
  version: number;
  /** Its identifiers, as one text. Empty: it has none. */
  identity: string;
}

/** What was answered as published is at the server, at that version or a newer one, and nothing is there twice. */
export function judgePublishes(
  published: Iterable<PublishedResource>,
  remote: readonly RemoteResource[],
): Finding {
  const versions = new Map(remote.map(({ key, version }) => [key, version]));
  const all = [...published];
  const lost = all.filter((one) => (versions.get(one.remote) ?? 0) < one.version).length;
  const identities = remote.map(({ key, identity }) => `${key.split('/')[0]} ${identity}`);
  const doubles = identities.length - new Set(identities).size;
  const nameless = remote.filter(({ identity }) => identity === '').length;
  return {
    what: 'resources published',
    expected: all.length,
    found: all.length - lost,
    lost,
    wrong: nameless === 0 ? doubles : nameless,
  };
}
