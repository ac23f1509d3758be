/**
 * Work that a trace shows. Nothing here knows OpenTelemetry: spans are published on a channel of Node.js
 * (`node:diagnostics_channel`), and `src/app/tracing` listens to it when the operator has turned traces on. With nobody
 * listening, `traced` calls its work and does nothing else (docs/adr/0137).
 * Contract: OPS-36, OPS-37.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';

/** Every attribute that a span may carry. */
export const TRACE_ATTRIBUTES = [
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'server.address',
  'server.port',
  'db.system.name',
  'db.operation.name',
  'db.query.summary',
  'error.type',
  'interchange.correlation_id',
  'interchange.connection_id',
  'interchange.delivery_id',
  'interchange.target_id',
  'interchange.attempt',
  'interchange.kind',
  'interchange.entries',
  'interchange.dry_run',
  'interchange.outcome',
] as const;

export type TraceAttributes = {
  [name in (typeof TRACE_ATTRIBUTES)[number]]?: string | number | boolean | undefined;
};

/** A piece of work, as it is published when it begins. Whoever does it may set attributes until it ends. */
export interface Span {
  /** Constant words, the pattern of a route, or the name of a statement: never data. */
  name: string;
  kind: 'server' | 'client' | 'internal';
  attributes: TraceAttributes;
  /** Not worth a trace of its own: outside of every trace it is not recorded. */
  partOnly?: true;
  /** `traceparent` of the caller: linked, never the parent. */
  link?: string | undefined;
  failed?: boolean;
  /** Set by who listens, from its beginning on. */
  context?: TraceContext | undefined;
}

/** The span that work belongs to. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
}

const BEGIN = channel<Span, TraceContext | undefined>('interchange.span.begin');
const END = channel<Span>('interchange.span.end');
/** The span that the running code belongs to. */
const CURRENT = new AsyncLocalStorage<TraceContext | undefined>();

/** How a listener takes part: its `begin` gets the parent and returns what `work` then belongs to. */
export interface SpanListener {
  begin(span: Span, parent: TraceContext | undefined): TraceContext | undefined;
  end(span: Span): void;
}

/** Returns a function that ends the listening. */
export function listenToSpans(listener: SpanListener): () => void {
  BEGIN.bindStore(CURRENT, (span) => {
    const parent = CURRENT.getStore();
    span.context = listener.begin(span, parent);
    return span.context ?? parent;
  });
  const onEnd = (span: unknown): void => listener.end(span as Span);
  END.subscribe(onEnd);
  return () => {
    BEGIN.unbindStore(CURRENT);
    END.unsubscribe(onEnd);
  };
}

export function isTracing(): boolean {
  return END.hasSubscribers;
}

/** Do `work` as a span of its own. What `work` throws marks the span as failed, by its code alone. */
export async function traced<T>(span: Span, work: () => Promise<T>): Promise<T> {
  if (!isTracing()) return work();
  return beginSpan(span, async () => {
    try {
      return await work();
    } catch (error) {
      noteFailure(span, error);
      throw error;
    } finally {
      endSpan(span);
    }
  });
}

/** Begin a span that {@link endSpan} ends later, and run what belongs to it. */
export function beginSpan<T>(span: Span, run: () => T): T {
  return BEGIN.runStores(span, run);
}

export function endSpan(span: Span): void {
  END.publish(span);
}

export function noteFailure(span: Span, error: unknown): void {
  const { code } = (error ?? {}) as { code?: unknown };
  span.failed = true;
  span.attributes['error.type'] = typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'failed';
}

/** The trace that the running code belongs to. */
export function currentTrace(): TraceContext | undefined {
  return CURRENT.getStore();
}

/** Run something as part of a trace that began elsewhere. */
export function inTrace<T>(context: TraceContext | undefined, run: () => T): T {
  return context === CURRENT.getStore() ? run() : CURRENT.run(context, run);
}
