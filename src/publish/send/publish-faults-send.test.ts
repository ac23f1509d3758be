import { describeFaults } from '../../../test-support/publish-faults.ts';

describeFaults('server', 'send');
