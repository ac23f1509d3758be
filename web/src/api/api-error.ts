/** Why a call failed: what the service said, and the id under which the operator finds it in the logs. */
export class ApiError extends Error {
  /** 0 when the service could not be reached. */
  readonly status: number;
  readonly correlationId: string | undefined;
  /** Of a 429 or 503. */
  readonly retryAfterSeconds: number | undefined;
  /** It was sent, was not a read, and its answer did not come. */
  readonly isAnswerLost: boolean;

  constructor(
    message: string,
    details: { status: number; correlationId?: string; retryAfterSeconds?: number; isAnswerLost?: boolean },
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = details.status;
    this.correlationId = details.correlationId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.isAnswerLost = details.isAnswerLost ?? false;
  }
}

/** The service says in each answer what failed and what to do: {statusCode, message, error}. */
export function errorOf(response: Response, body: unknown, { isAnswerLost = false } = {}): ApiError {
  const { message } = (body ?? {}) as { message?: unknown };
  const retryAfter = Number(response.headers.get('retry-after'));
  return new ApiError(typeof message === 'string' ? message : '', {
    // What has words is of the service itself.
    isAnswerLost: isAnswerLost && typeof message !== 'string',
    status: response.status,
    correlationId: response.headers.get('x-correlation-id') ?? undefined,
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : undefined,
  });
}

export function unreachable({ isAnswerLost = false } = {}): ApiError {
  return new ApiError('', { status: 0, isAnswerLost });
}

/** What comes from the service, and may not arrive, or break off on its way: the console did not fail then. */
export function arrived<Value>(coming: Promise<Value>, { isAnswerLost = false } = {}): Promise<Value> {
  return coming.catch((error: unknown) => {
    throw error instanceof ApiError ? error : unreachable({ isAnswerLost });
  });
}

/** What somebody asked for may have been done, or not. */
export class AnswerLost extends Error {
  override name = 'AnswerLost';
}
