/** Delivery workers of one process beside an exchange, and what they leave in the database. */
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, beforeEach } from 'node:test';
import {
  type ConnectionChanges,
  changeConnection,
} from '../../src/exchange/connections/change-connection.ts';
import type { CreatedConnection } from '../../src/exchange/connections/connection.schema.ts';
import { updateConnection } from '../../src/exchange/connections/connection.store.ts';
import { BY_OPERATOR } from '../../src/exchange/connections/connection.ts';
import type { DeliverySettings } from '../../src/exchange/worker/delivery-settings.ts';
import { createDeliveryWorker, type DeliveryWorker } from '../../src/exchange/worker/delivery-worker.ts';
import { createKeyRing, type KeyRing } from '../../src/platform/crypto/key-ring.ts';
import type { Pool } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log/log.ts';
import type { AccessEntry } from '../../src/privacy/access-log/access-log.ts';
import { createWorkWatch } from '../../src/tenancy/organisations/organisation-work.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { watchPool } from '../database/watched-pool.ts';
import { createPlace } from '../records/place.ts';
import { waitUntil } from '../wait-until.ts';
import { connect, type Place, QUICK } from './exchange-records.ts';
import { startExchange, type TestExchange } from './exchange-server.ts';

const LOOK = 'exchange-connection-states';
const lookAt = (organisationId: string) => `${LOOK} of ${organisationId}`;

/** For the tests of a file: each has an organisation, an exchange and a connection of its own. */
export function useWorkers(): WorkerTest {
  const t = new WorkerTest();
  before(() => t.open());
  after(() => t.database.drop());
  beforeEach(() => t.begin());
  afterEach(() => t.end());
  return t;
}

class WorkerTest {
  readonly keys: KeyRing = createKeyRing(randomBytes(32));
  database!: TestDatabase;
  exchange!: TestExchange;
  place!: Place;
  connection!: CreatedConnection;
  /** Of the access log. */
  entries: AccessEntry[] = [];
  /** The names of what the workers asked the database; a look, with its organisation. */
  statements: string[] = [];
  readonly #workers: DeliveryWorker[] = [];
  /** Call the workers for an organisation. */
  #calls: ((organisationId: string) => void)[] = [];
  #watched!: Pool;

  async open(): Promise<void> {
    this.database = await createTestDatabase();
    ({ db: this.#watched, statements: this.statements } = watchPool(
      this.database.pool,
      ({ name = 'unnamed', values }) => (name === LOOK ? lookAt(String(values?.[0])) : name),
    ));
  }

  async begin(): Promise<void> {
    const { pool } = this.database;
    this.place = await createPlace(pool);
    this.exchange = await startExchange('/in?b=2&a=1');
    this.connection = await connect({ pool, keys: this.keys }, this.place, { address: this.exchange.url });
    this.exchange.trust = { clientId: 'test-client', secrets: [this.connection.outboundSecret] };
    this.entries = [];
    this.statements.length = 0;
  }

  async end(): Promise<void> {
    await this.stopWorkers();
    await updateConnection(this.database.pool, this.key(), { disabled: true });
    await this.exchange.close();
  }

  key() {
    return { organisationId: this.place.organisationId, connectionId: this.connection.id };
  }

  /** Starts a worker. */
  work(
    settings: DeliverySettings = QUICK,
    record: (entries: readonly AccessEntry[]) => Promise<void> = async (added) =>
      void this.entries.push(...added),
    now: () => Date = () => new Date(),
  ): DeliveryWorker {
    const worker = createDeliveryWorker({
      db: this.#watched,
      work: createWorkWatch().of('deliveries'),
      listen: (onCall) => {
        this.#calls.push(onCall);
        return () => undefined;
      },
      keys: this.keys,
      log: createLog('silent'),
      now,
      settings,
      accessLog: { record },
      onAttempt: () => undefined,
    });
    this.#workers.push(worker);
    worker.start();
    return worker;
  }

  async stopWorkers(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.stop()));
    this.#calls = [];
  }

  /** Change the connection, as an operator does. */
  async change(changes: ConnectionChanges): Promise<void> {
    await changeConnection(this.database.pool, this.key(), { changes, author: BY_OPERATOR });
  }

  async heads() {
    const { rows } = await this.database.pool.query<{
      patient_id: string;
      sequence: number;
      attempts: number;
      due_at: Date | null;
      held_reason: string | null;
      lease_token: string | null;
      lease_ended: boolean;
    }>(
      `select *, leased_until <= now() as lease_ended
       from exchange_head where organisation_id = $1 order by patient_id`,
      [this.place.organisationId],
    );
    return rows;
  }

  async endLeases(): Promise<void> {
    await this.database.pool.query(
      `update exchange_head set leased_until = now() - interval '1 second' where organisation_id = $1`,
      [this.place.organisationId],
    );
  }

  async attempts(patientId?: string) {
    const { rows } = await this.database.pool.query<{
      patient_id: string;
      sequence: number;
      outcome: string;
      status: number | null;
      counted: boolean;
      nonce: string;
      failure: string | null;
    }>(
      `select * from exchange_attempt
       where organisation_id = $1 and ($2::uuid is null or patient_id = $2) order by started_at, sequence`,
      [this.place.organisationId, patientId],
    );
    return rows;
  }

  /** Until every worker has looked for deliveries again, twice from the beginning to the end. */
  async workersLook(): Promise<void> {
    const { organisationId } = this.place;
    const looks = () => this.statements.filter((name) => name === lookAt(organisationId)).length;
    for (let round = 0; round < 3; round += 1) {
      const before = looks();
      for (const call of this.#calls) call(organisationId);
      await waitUntil(() => looks() >= before + this.#workers.length, 'the workers look for deliveries');
    }
  }

  async until(what: string, condition: () => Promise<boolean>): Promise<void> {
    await waitUntil(condition, what);
  }

  allDelivered(): Promise<void> {
    return this.until('everything is delivered', async () => (await this.heads()).length === 0);
  }
}
