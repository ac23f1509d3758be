import { describeFaults } from '../../../test-support/publish/publish-faults.ts';

describeFaults('server', 'send');
