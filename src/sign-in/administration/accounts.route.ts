/** /accounts: administrators list, create and change accounts. Contract: ADM-1, ADM-7, ADM-8, ADM-9, ADM-68. */

import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { badRequest } from '../../platform/http/errors.ts';
import { mapPage, PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { isUuid } from '../../platform/uuid.ts';
import { authorOf } from '../../tenancy/administration/author.ts';
import { type Access, administrationRoute, type FacilityContext } from '../../tenancy/callers/access.ts';
import { createAccount } from '../accounts/create-account.ts';
import type { ResetPasswordDependencies } from '../accounts/manage-accounts.ts';
import {
  AccountChangesBody,
  AccountParams,
  AccountSchema,
  accountView,
  IssuedAccountSchema,
  NEW_ACCOUNT_EXAMPLE,
  NewAccountBody,
  UserTypeSchema,
} from './account.schema.ts';
import { changeAccount } from './change-account.ts';
import {
  ACCOUNT_STATES,
  type ListAccountsDependencies,
  listSeenAccounts,
  readSeenAccount,
} from './list-accounts.ts';
import { type AccountChange, MANAGING } from './managed-account.ts';

export type AccountRouteDependencies = ListAccountsDependencies & ResetPasswordDependencies;

export const ACCOUNT_PERMISSIONS = Object.values(MANAGING);

/** The account that a call changes, and who calls. */
export function changeOf(context: FacilityContext, accountId: string): AccountChange {
  const { organisationId } = context.scope;
  return { key: { organisationId, accountId }, author: authorOf(context) };
}

export function listAccountsRoute(deps: AccountRouteDependencies): Route<Access> {
  return administrationRoute(ACCOUNT_PERMISSIONS, {
    docs: {
      operationId: 'listAccounts',
      summary: 'List accounts',
      description:
        'Those that share a facility with yours: of systems (EHR) with `accounts.manage`, of people (STAFF) with `people.manage`.',
    },
    query: Type.Object({
      type: Type.Optional(UserTypeSchema),
      search: Type.Optional(
        Type.String({
          maxLength: 320,
          description:
            'The start of a word of the email address: words stand between `.`, `_`, `-`, `+` and `@`.',
        }),
      ),
      role: Type.Optional(Type.String({ description: 'Those that hold this role, by its id.' })),
      state: Type.Optional(Choice(ACCOUNT_STATES)),
      ...PAGE_PARAMETERS,
    }),
    responses: { 200: { description: 'By email address.', schema: pageSchema(AccountSchema) } },
    handle: async ({ query }, context) => {
      if (query.role !== undefined && !isUuid(query.role))
        throw badRequest({
          en: 'role must be a UUID.',
          fr: 'role doit être un UUID.',
        });
      return { body: mapPage(await listSeenAccounts(deps, context, query), accountView) };
    },
  });
}

export function readAccountRoute(deps: AccountRouteDependencies): Route<Access> {
  return administrationRoute(ACCOUNT_PERMISSIONS, {
    docs: { operationId: 'readAccount', summary: 'Read one account' },
    params: AccountParams,
    responses: { 200: { description: 'The account.', schema: AccountSchema } },
    handle: async ({ params }, context) => ({
      body: accountView(await readSeenAccount(deps, context, params.accountId)),
    }),
  });
}

export function createAccountRoute(deps: AccountRouteDependencies): Route<Access> {
  return administrationRoute(ACCOUNT_PERMISSIONS, {
    docs: {
      operationId: 'createAccount',
      summary: 'Create an account',
      description:
        'Its role may have only permissions that you hold, and its facilities must be yours. Without facilityIds it has the facility of the call.',
    },
    body: NewAccountBody,
    bodyExample: NEW_ACCOUNT_EXAMPLE,
    responses: {
      201: { description: 'The account, and how it signs in.', schema: IssuedAccountSchema },
      409: { description: 'An account with this address exists.' },
    },
    handle: async ({ body }, context) => {
      const { organisationId, facilityId } = context.scope;
      const { roleId, password = 'generated', ...account } = body;
      const created = await createAccount(
        deps,
        {
          facilityIds: [facilityId],
          mustChangePassword: false,
          ...account,
          organisationId,
          role: { id: roleId },
          password: { kind: password },
        },
        { now: await readDatabaseTime(deps.db, context.databaseTime), author: authorOf(context) },
      );
      return { status: 201, body: created };
    },
  });
}

export function changeAccountRoute(deps: AccountRouteDependencies): Route<Access> {
  return administrationRoute(ACCOUNT_PERMISSIONS, {
    docs: {
      operationId: 'changeAccount',
      summary: 'Change the email, the role or the facilities of an account',
      description:
        'From the next call on, in every process. All of it is changed, or nothing. Another email, role or facility ends the setup links of the account.',
    },
    params: AccountParams,
    body: AccountChangesBody,
    bodyExample: { roleId: NEW_ACCOUNT_EXAMPLE.roleId },
    responses: {
      200: { description: 'The account as it is now.', schema: AccountSchema },
      409: { description: 'The address is taken, or nobody may change this of their own account.' },
    },
    handle: async ({ params, body: { roleId, ...rest } }, context) => {
      const changes = { ...rest, ...(roleId === undefined ? {} : { role: { id: roleId } }) };
      const change = changeOf(context, params.accountId);
      const { userId } = await changeAccount(deps.db, { ...change, changes });
      return { body: accountView(await readSeenAccount(deps, context, userId)) };
    },
  });
}
