/** What commands of one account have in common. */
import { Command } from 'commander';

export interface OfAccount {
  email: string;
}

/** A command of one account, which its address names. `example`: its options in the example of its help. */
export function accountCommand(
  name: string,
  description: string,
  example = '--email ris@example.org',
): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--email <email>', 'address of the account')
    .addHelpText('after', `\nExample:\n  npx interchange account ${name} ${example}`);
}
