/** Why a call failed: what the service said, and the id under which the operator finds it in the logs. */
export class ApiError extends Error {
  /** 0 when the service could not be reached. */
  readonly status: number;
  readonly correlationId: string | undefined;
  /** Of a 429 or 503. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    details: { status: number; correlationId?: string; retryAfterSeconds?: number },
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = details.status;
    this.correlationId = details.correlationId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** The service says in each answer what failed and what to do: {statusCode, message, error}. */
export function errorOf(response: Response, body: unknown): ApiError {
  const { message } = (body ?? {}) as { message?: unknown };
  const retryAfter = Number(response.headers.get('retry-after'));
  return new ApiError(typeof message === 'string' ? message : '', {
    status: response.status,
    correlationId: response.headers.get('x-correlation-id') ?? undefined,
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : undefined,
  });
}

export function unreachable(): ApiError {
  return new ApiError('', { status: 0 });
}

/** What comes from the service, and may not arrive, or break off on its way: the console did not fail then. */
export function arrived<Value>(coming: Promise<Value>): Promise<Value> {
  return coming.catch(() => {
    throw unreachable();
  });
}
