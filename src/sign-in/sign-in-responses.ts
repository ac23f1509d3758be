/** Error answers that the routes of sign-in share, for the OpenAPI document, which gives each the one error shape. */

const failure = (description: string) => ({ description });

export const badBody = { 400: failure('The body is not JSON, or does not have the members above.') };

/** Of the routes that check a password. */
export const signInFailures = {
  ...badBody,
  403: failure('The password is wrong or the account is unknown; the message is the same.'),
  429: failure('Too many sign-ins failed. Wait for the seconds in `retry-after`.'),
  503: failure('The service is checking too many passwords. Wait for the seconds in `retry-after`.'),
};

/** Of the routes that issue tokens. */
export const noTokens = {
  503: failure(
    'The service is checking too many passwords, or the clock of the process is wrong. Wait for the seconds in `retry-after`.',
  ),
};

export const tokenRefused = { 401: failure('The token is unknown, expired, used or revoked.') };
