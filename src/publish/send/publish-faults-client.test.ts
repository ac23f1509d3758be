import { describeFaults } from '../../../test-support/publish-faults.ts';

describeFaults('client');
