/** Which facilities a connection covers. */
import { Checkbox, Stack } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { useSession } from '../../../shell/session-context.tsx';

interface ConnectionFacilitiesProperties {
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

/** Nothing to choose where the account has one facility. */
export function ConnectionFacilities({ chosen, onChange }: ConnectionFacilitiesProperties) {
  const t = useTranslations('exchangeConnections');
  const { session } = useSession();
  if (session.facilities.length < 2) return undefined;
  return (
    <Checkbox.Group
      label={t('facilities')}
      description={t('facilitiesHelp')}
      value={chosen}
      onChange={onChange}
    >
      <Stack gap="xs" mt="xs">
        {session.facilities.map(({ id, name }) => (
          <Checkbox key={id} size="xs" value={id} label={name} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
