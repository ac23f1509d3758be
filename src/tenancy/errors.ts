/** What use cases refuse of organisations, facilities, roles and callers, and how it is worded. */
import { randomUUID } from 'node:crypto';
import { domainErrors } from '../platform/domain-error.ts';
import { french } from './errors.fr.ts';
import { MODULES, type Module } from './organisations/modules.ts';
import type { OwnChange } from './own-changes.ts';
import type { RecordName } from './record-names.ts';

/** For who gave a name in place of an id, by the option of commands. */
const WHERE_IDS_ARE: Readonly<Record<string, string>> = {
  '--organisation': ' List organisations with: npx interchange organisation list',
  '--facility': ' List facilities with: npx interchange facility list --organisation ID',
};

export const tenancyError = domainErrors(
  {
    password_change_required: {
      status: 403,
      text: ({ passwordPage }: { passwordPage: string | undefined }) =>
        passwordPage === undefined
          ? 'This account must set its password in the web application before it can be used. Open the setup link, or ask an administrator for one.'
          : `This account must change its password in the web application, ${passwordPage} in a browser, before it can be used.`,
      example: { passwordPage: 'https://interchange.example.org/console/change-password' },
    },
    session_ended: {
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      text: 'The session has ended. Sign in again.',
    },
    sign_in_unfinished: {
      status: 401,
      headers: { 'www-authenticate': 'Cookie' },
      text: 'The sign-in is not finished. Read GET /console/api/session, which says what is missing.',
    },
    already_signed_in: {
      status: 409,
      text: 'This session is signed in already. Sign out first.',
    },
    malformed_header: {
      status: 400,
      text: ({ header, repeated }: { header: string; repeated: boolean }) =>
        repeated
          ? `The header ${header} was sent more than once, or with more than one value. Send it once, with one UUID.`
          : `The header ${header} must be a single UUID. Send the id as it was given to you.`,
      example: { header: 'x-facility-id', repeated: false },
    },
    facility_missing: {
      status: 400,
      text: 'x-facility-id is missing, and this account has no default facility. Send the id of the facility in that header.',
    },
    tenancy_refused: {
      status: 403,
      text: 'This account may not use this organisation or facility. Check x-org-id and x-facility-id.',
    },
    permission_missing: {
      status: 403,
      text: ({ permissions }: { permissions: readonly string[] }) =>
        `This account lacks the permission ${permissions.join(' or ')}. Ask the facility administrator.`,
      example: { permissions: ['investigations.lab.list'] },
    },
    module_disabled: {
      status: 403,
      text: ({ module }: { module: Module }) =>
        `The module ${module} is off for this facility. Ask the facility administrator.`,
      example: { module: 'lab' },
    },
    not_found: {
      status: 404,
      text: ({ record }: { record: RecordName }) =>
        `${record} was not found. Check the id. If the id is right, it may belong to another facility: check x-org-id and x-facility-id.`,
      example: { record: 'The patient' },
    },
    malformed_id: {
      exitCode: 2,
      text: ({ field }: { field: string }) =>
        `${field} must be a UUID, for example ${randomUUID()}.${WHERE_IDS_ARE[field] ?? ''}`,
    },
    name_length: {
      status: 400,
      exitCode: 2,
      text: ({ field, max }: { field: string; max: number }) => `${field} must have 1 to ${max} characters.`,
      example: { field: 'name', max: 200 },
    },
    name_not_one_line: {
      status: 400,
      exitCode: 2,
      text: ({ field }: { field: string }) =>
        `${field} must be one line of text, without control characters or marks that change the direction of text.`,
      example: { field: 'name' },
    },
    bad_time_zone: {
      status: 400,
      exitCode: 2,
      text: ({ field }: { field: string }) =>
        `${field} must be a name of the IANA time zone database, such as Africa/Lagos.`,
      command: ({ field }: { field: string }) =>
        `${field} must be a name of the IANA time zone database. Example: ${field} Africa/Lagos`,
      example: { field: 'timeZone' },
    },
    unknown_module: {
      exitCode: 2,
      text: ({ name }: { name: string }) => `The module ${name} is unknown. Use ${MODULES.join(', ')}.`,
    },
    no_permissions: {
      exitCode: 2,
      text: ({ field }: { field: string }) =>
        `${field} is empty. Example: ${field} encounters.access,patients.patients.list`,
    },
    unknown_permission: {
      exitCode: 2,
      text: ({ names }: { names: readonly string[] }) =>
        `The ${names.length === 1 ? 'permission' : 'permissions'} ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} unknown. List all permissions with: npx interchange role create --help`,
    },
    organisation_exists: {
      text: ({ id }: { id: string }) =>
        `An organisation with the id ${id} exists already. Give another id, or leave --id out.`,
    },
    unknown_organisation: {
      text: ({ organisationId }: { organisationId: string }) =>
        `There is no organisation ${organisationId}. List organisations with: npx interchange organisation list`,
    },
    facility_exists: {
      text: ({ id }: { id: string }) =>
        `This organisation already has a facility with the id ${id}. Give another id, or leave --id out.`,
    },
    unknown_facility: {
      text: ({ organisationId, facilityId }: { organisationId: string; facilityId: string }) =>
        `This organisation has no facility ${facilityId}. List its facilities with: npx interchange facility list --organisation ${organisationId}`,
    },
    role_exists: {
      status: 409,
      text: 'This organisation already has a role with this name. Choose another name.',
      command: ({ name }: { name: string }) =>
        `This organisation already has a role named ${name}. Change it with: npx interchange role set-permissions`,
    },
    role_held: {
      status: 409,
      text: 'Accounts hold this role. Give them another role first, then delete it.',
    },
    last_administrator: {
      status: 409,
      text: 'Nobody could manage people and roles after this change. Give another person a role with people.manage and roles.manage first.',
    },
    own_account: {
      status: 409,
      text: ({ change }: { change: OwnChange }) =>
        `Nobody may ${change}. Ask another administrator, or the operator.`,
      example: { change: 'disable their own account' },
    },
    permission_not_held: {
      status: 403,
      text: ({ permissions }: { permissions: readonly string[] }) =>
        `Your own role lacks ${permissions.join(', ')}, so you may neither grant nor manage that. Ask an administrator who holds it.`,
      example: { permissions: ['records.import'] },
    },
    facility_not_held: {
      status: 403,
      text: 'This concerns a facility that your own account may not use. Ask an administrator of that facility.',
    },
    unknown_role: {
      text: ({ organisationId, name }: { organisationId: string; name: string }) =>
        `This organisation has no role ${name}. List its roles with: npx interchange role list --organisation ${organisationId}`,
    },
  },
  french,
);

/** One message for an unknown id, a malformed one and one of another tenant or facility. */
export const notFound = (record: RecordName = 'The record') => tenancyError('not_found', { record });
