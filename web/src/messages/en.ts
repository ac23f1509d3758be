/** The words of the console in English. Sections are named after pages; `shell`, `blocks` and `signIn` are for all. */
import { accounts, integrationAccount, integrationAccounts, people, person } from './accounts/en.ts';
import { audit } from './audit/en.ts';
import { exchangeCallbacks, exchangeConnections } from './exchange/connections-en.ts';
import { exchange } from './exchange/en.ts';
import { facility } from './facility/en.ts';
import { imports } from './imports/en.ts';
import { devices, myAccount } from './my-account/en.ts';
import { overview } from './overview/en.ts';
import { patient, patients } from './patients/en.ts';
import { permissions } from './permissions/en.ts';
import { publishing } from './publishing/en.ts';
import { newRole, role, roles } from './roles/en.ts';
import { changePassword, passwordStrength, secondFactor, setPassword, signIn } from './sign-in/en.ts';
import { mapChanges, mapEditor, mapImport, terminology, terminologyMaps } from './terminology/en.ts';

export const en = {
  shell: {
    skip: 'Skip to the page',
    navigation: 'Pages',
    bar: 'Tools',
    openNavigation: 'Open the navigation',
    groups: {
      organisation: 'Organisation',
      records: 'Records',
      exchange: 'Exchange',
      account: 'Account',
    },
    facility: 'Facility',
    facilityTaken: 'You may not work at {before} any more. The console is at {now} now.',
    search: 'Go to or do',
    page: 'Page',
    person: 'Account: {email}',
    toMyAccount: 'My account',
    colours: 'Colours',
    schemes: { light: 'Light', dark: 'Dark', auto: 'As the system' },
    language: 'Language',
    languageMissing: 'The words of this language did not come. Load the page again in a moment.',
    signOut: 'Sign out',
    signOutFailed: 'You are still signed in: the service did not answer. Try again.',
    missingPermission: 'Your role does not open this page',
    missingPermissionText:
      '{count, plural, one {It needs the permission <names></names>.} other {It needs one of the permissions <names></names>.}} Ask an administrator of your organisation for it.',
    notFound: 'There is no such page',
    notFoundText: 'The address leads nowhere. It may be from an older version of the console.',
    toOverview: 'Go to the overview',
  },
  blocks: {
    loading: 'Loading',
    retry: 'Try again',
    notRead: 'This could not be read',
    notFound: 'It does not exist any more, or belongs to another facility.',
    unreachable: 'The service cannot be reached. Look at your connection, and try again.',
    answerLost:
      'The answer of the service did not come. It may have done this all the same: look whether it is done, before you try again.',
    answered: 'The service answered {status}. Try again in a moment.',
    consoleFailed: 'The console failed. Load the page again.',
    codeMissing:
      'The service does not have this page, although the console was loaded anew. Try again in a minute, or tell the operator.',
    correlationId: 'For the operator, the correlation id:',
    cancel: 'Cancel',
    close: 'Close',
    showPassword: 'Show the password',
    unsavedTitle: 'Leave without saving?',
    unsavedText: 'What you changed on this page is not saved.',
    leave: 'Leave',
    copied: 'Copied.',
    notCopied: 'The browser did not allow to copy. Select the text and copy it yourself.',
    copyNamed: 'Copy: {name}',
    theValue: 'The value {fault}',
    chooseFacility: 'Choose at least one facility.',
    secretToCome:
      'This page waits for an answer of the service that is shown only once. Stay here until it has come.',
    secretOnce: 'This is shown once. Copy it now, and keep it where others cannot read it.',
    secretKept: 'I have kept it',
    dismiss: 'Dismiss',
    palette: 'Commands',
    paletteLabel: 'Type a part of a name',
    paletteNone: 'Nothing has that name.',
    members: '{count, plural, one {# member} other {# members}}',
    moreMembers: 'and {count, plural, one {# more} other {# more}}',
    filters: 'Filters',
    any: 'Any',
    clearFilters: 'Clear filters',
    nothingFound: 'Nothing matches the filters',
    nothingFoundText: 'Change a filter, or clear them all.',
    shown:
      '{more, select, true {{count, plural, one {# row so far} other {# rows so far}}} other {{count, plural, one {# row} other {# rows}}}}',
    readMore: 'Show more',
    readingMore: 'Reading more',
    rowsNotRead: 'These rows could not be read again.',
    restNotRead: 'The next rows could not be read.',
    named: '{name}: {what}',
    before: 'Before:',
    after: 'After:',
  },
  signIn,
  secondFactor,
  passwordStrength,
  changePassword,
  setPassword,
  overview,
  accounts,
  integrationAccounts,
  integrationAccount,
  people,
  person,
  roles,
  newRole,
  role,
  terminology,
  terminologyMaps,
  mapEditor,
  mapImport,
  mapChanges,
  patients,
  patient,
  exchange,
  exchangeConnections,
  exchangeCallbacks,
  permissions,
  publishing,
  imports,
  facility,
  audit,
  devices,
  myAccount,
} as const;
