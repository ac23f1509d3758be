/** What a caller is told of an error of a use case: the answer of HTTP, or the words of the command line. */
import { commandErrorOf } from '../../src/platform/command/command.ts';
import { DomainError } from '../../src/platform/domain-error.ts';
import { httpErrorOf } from '../../src/platform/http/errors.ts';

/** Does `work`, and throws as HTTP answers. */
export function answered<T>(work: () => T): T {
  try {
    const done = work();
    return done instanceof Promise ? (done.catch(throwAnswer) as T) : done;
  } catch (error) {
    return throwAnswer(error);
  }
}

function throwAnswer(error: unknown): never {
  throw error instanceof DomainError ? (httpErrorOf(error) ?? error) : error;
}

/** Rejects as the command line says it. */
export function asCommand<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw error instanceof DomainError ? commandErrorOf(error) : error;
  });
}
