/** Statements, and the wait for a connection, as spans: by the name or the kind of a statement, never by its text. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { beginSpan, endSpan, isTracing, noteFailure, type Span } from '../../trace/trace.ts';
import { followed } from '../unavailable.ts';

type Call = (...args: never[]) => unknown;

/** `query` of a connection, which takes a statement and a callback, or returns a promise. */
export function tracedQuery<Query extends Call>(query: Query): Query {
  return tracedCall(query, statementSpan);
}

/** `connect` of a pool: how long a statement waits for a connection. */
export function tracedConnect<Connect extends Call>(connect: Connect): Connect {
  return tracedCall(connect, () => databaseSpan('connect', { 'db.operation.name': 'connect' }));
}

function tracedCall<Traced extends Call>(
  call: Traced,
  describe: (argument: unknown) => Span | undefined,
): Traced {
  const tracing = function (this: unknown, ...args: unknown[]): unknown {
    const span = isTracing() ? describe(args[0]) : undefined;
    if (span === undefined) return Reflect.apply(call, this, args);
    const callback = args.at(-1);
    // What comes after belongs to who asked, not to this span.
    if (typeof callback === 'function') args[args.length - 1] = AsyncLocalStorage.bind(callback as never);
    const make = () => beginSpan(span, () => Reflect.apply(call, this, args));
    return followed(make, args, (error) => {
      if (error != null) noteFailure(span, error);
      endSpan(span);
    });
  };
  return tracing as unknown as Traced;
}

const OPERATION =
  /^\s*(?:\(\s*)?(select|insert|update|delete|with|merge|begin|commit|rollback|listen|copy)\b/i;

/** Undefined for what is no statement, such as a cursor. */
function statementSpan(statement: unknown): Span | undefined {
  const { text = statement, name } = (statement ?? {}) as { text?: unknown; name?: unknown };
  if (typeof text !== 'string') return undefined;
  const operation = OPERATION.exec(text)?.[1]?.toLowerCase() ?? 'other';
  const summary = typeof name === 'string' ? name : undefined;
  return databaseSpan(summary ?? operation, { 'db.operation.name': operation, 'db.query.summary': summary });
}

function databaseSpan(name: string, attributes: Span['attributes']): Span {
  return {
    name,
    kind: 'client',
    partOnly: true,
    attributes: { 'db.system.name': 'postgresql', ...attributes },
  };
}
