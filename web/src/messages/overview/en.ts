/** What somebody should look at first. */
export const overview = {
  title: 'Overview',
  text: 'What needs you at {facility}, and how much went through.',
  attention: 'Needs attention',
  calm: 'Nothing needs you now',
  calmText:
    'Held deliveries, failures, codes without a standard code and accounts that wait would stand here, as far as your role opens them.',
  count: '{more, select, true {more than {count}} other {{count}}}',
  kinds: {
    'held-deliveries': {
      name: 'Held deliveries',
      text: 'An exchange did not take these, or the service may not send them. Look at the reason, then replay or skip them.',
      link: 'Review them',
    },
    'exchanges-down': {
      name: 'Exchanges where deliveries fail',
      text: 'They do not answer, or answer each message with a failure. Deliveries wait, and are tried again by themselves. If it lasts, test the connection.',
      link: 'Look at the connections',
    },
    'failing-targets': {
      name: 'Publish targets that fail',
      text: 'The last publish to these FHIR servers failed. See why, and publish again.',
      link: 'Look at the failures',
    },
    'rejected-imports': {
      name: 'Incomplete imports',
      text: 'In the last seven days records or files were rejected, or an import stopped half way. The report says which, and why. Each counts for seven days, also when its file was imported again since. The list has older ones too.',
      link: 'Read the reports',
    },
    'unmapped-codes': {
      name: 'Codes without a standard code',
      text: 'Results with these local codes go out, but others may not understand them. Map them.',
      link: 'Map them',
    },
    'accounts-must-change-password': {
      name: 'Accounts that must change their password',
      text: 'Until then they can do nothing. Send the partner of a system the address of the page. People are asked at their next sign-in.',
      link: 'See the systems',
    },
    'accounts-require-password-setup': {
      name: 'Accounts without a password yet',
      text: 'Their setup link was not used. A link ends 72 hours after it was made; then reset the password to make a new one.',
      link: 'See the systems',
    },
  },
  /** Beside the link of a kind of account, which leads to those of systems. */
  seePeople: 'See the people',
  activity: 'Activity',
  activityText: 'By the hour, in the time zone of the facility ({zone}).',
  period: 'Period',
  periods: { '24': 'Last 24 hours', '168': 'Last 7 days' },
  hour: 'Hour from',
  none: 'None in this time',
  series: {
    calls: 'Calls of systems and of the console',
    publishes: 'Publishes',
    deliveries: 'Deliveries to exchanges',
  },
  /** After a number, and as headings. */
  parts: {
    answered: 'answered',
    refused: 'refused (4xx)',
    failed: 'failed',
    published: 'published',
    delivered: 'delivered',
    attemptsFailed: '{count, plural, one {attempt failed} other {attempts failed}}',
  },
  firstSteps: 'The first three steps',
  firstStepsText:
    'No system has an account at {facility} yet. If one works elsewhere in the organisation, somebody who manages both facilities can add this one to its account.',
  steps: {
    account: {
      name: 'Create an integration account',
      text: 'Each system that calls has one of its own. You get a quick start to send to the partner.',
      link: 'Create an account',
    },
    import: {
      name: 'Import records',
      text: 'Patients with their results, from FHIR files. Drop a file, and see first what would change.',
      link: 'Import a file',
    },
    map: {
      name: 'Map local codes',
      text: 'Give codes of your laboratory their standard code, so that others understand the results.',
      link: 'Map codes',
    },
  },
  nothingForRole: 'Your role has no overview',
  nothingForRoleText: 'The navigation has the pages that your role opens.',
} as const;
